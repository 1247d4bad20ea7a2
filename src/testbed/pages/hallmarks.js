const $ = id => document.getElementById(id);
let maker = '';
async function load() {
  const body = JSON.stringify({ maker, skip: $('rows').children.length, take: 7 });
  const response = await fetch('/api/pieces/search', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const page = await response.json();
  $('rows').insertAdjacentHTML('beforeend', page.pieces.map(it => `<li><b>${it.title}</b> ${it.lot}, ${it.town} ${it.year}, ${it.ounces} oz</li>`).join(''));
  $('more').hidden = $('rows').children.length >= page.count;
  $('status').textContent = `${page.count} pieces by ${maker}, ${$('rows').children.length} shown`;
}
$('ask').onsubmit = event => {
  event.preventDefault();
  maker = $('q').value.trim();
  $('rows').replaceChildren();
  load();
};
$('more').onclick = load;
