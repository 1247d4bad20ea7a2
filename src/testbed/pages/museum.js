async function patiently(url) {
  const response = await fetch(url);
  if (response.status !== 429) return response.json();
  const seconds = Number(response.headers.get('retry-after'));
  await new Promise(resolve => setTimeout(resolve, seconds * 1000));
  return patiently(url);
}
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const q = document.getElementById('q').value.trim();
  const { total, objects } = await patiently('/api/objects?' + new URLSearchParams({ q, on_view: 'any' }));
  document.getElementById('status').textContent = `${total} results for ${q}`;
  document.getElementById('objects').innerHTML = objects.map(it => `<div class="card"><h3>${it.title}</h3><p>${it.inventory}, ${it.maker.name},
    ${it.made_in} ${it.year}, room ${it.room}</p><p>${it.text}</p></div>`).join('');
};
