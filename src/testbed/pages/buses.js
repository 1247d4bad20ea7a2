let source;
document.getElementById('ask').onsubmit = event => {
  event.preventDefault();
  const stop = document.getElementById('stop').value.trim();
  const list = document.getElementById('buses');
  list.replaceChildren();
  source?.close();
  source = new EventSource('/live/departures?stop=' + encodeURIComponent(stop));
  source.addEventListener('bus', ({ data }) => {
    const bus = JSON.parse(data);
    list.insertAdjacentHTML('beforeend', `<p><b>${bus.line}</b> to ${bus.towards} in ${bus.minutes} min, driven by ${bus.driver}. ${bus.note}</p>`);
  });
  source.addEventListener('done', ({ data }) => {
    source.close();
    document.getElementById('status').textContent = `${data} results for ${stop}`;
  });
};
