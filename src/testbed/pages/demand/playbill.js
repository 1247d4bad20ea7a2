document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const number = document.getElementById('number').value, rendering = document.getElementById('rendering').value;
  const poster = await (await fetch(`/poster/${encodeURIComponent(number)}.json`)).json();
  document.getElementById('poster').src = poster.renderings[rendering];
  document.getElementById('file').href = poster.renderings[rendering];
  document.getElementById('status').textContent = `${poster.title}, ${rendering}`;
};
