const session = fetch('/session.json').then(response => response.json());
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const name = document.getElementById('stop').value.trim();
  const { token } = await session;
  const response = await fetch('/api/stops?name=' + encodeURIComponent(name), { headers: { 'X-Token': token } });
  const { matches, stops } = await response.json();
  document.getElementById('status').textContent = `${matches} results for ${name}`;
  document.getElementById('stops').innerHTML = stops.map(stop => `<p><b>${stop.label}</b> (${stop.code}) ${stop.line} towards
    ${stop.towards}, ${stop.first} to ${stop.last}${stop.step_free ? ', step-free' : ''}</p>`).join('');
};
