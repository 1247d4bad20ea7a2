document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const query = document.getElementById('q').value.trim();
  const { total, finds } = await (await fetch('/api/finds?' + new URLSearchParams({ query, order: 'found' }))).json();
  document.getElementById('status').textContent = `${total} results for ${query}`;
  document.getElementById('coins').innerHTML = finds.map(it => `<p><b>${it.description}</b> ${it.id}, mint ${it.mint ?? 'unknown'},
    ${it.ruler.name ?? 'no ruler'}, ${it.weight_g ?? '?'} g, found ${it.found} by ${it.finder?.name ?? 'somebody'}</p>`).join('');
};
