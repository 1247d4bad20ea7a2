const $ = id => document.getElementById(id);
let stone = '';
let next = null;
async function load(url) {
  const response = await fetch(url);
  const blocks = await response.json();
  const link = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '');
  next = link && new URL(link[1]).pathname + new URL(link[1]).search;
  $('more').hidden = !next;
  $('rows').insertAdjacentHTML('beforeend', blocks.map(it => `<li><b>${it.title}</b> ${it.mark}, ${it.face}, ${it.tonnes} t, by ${it.mason}</li>`).join(''));
  $('status').textContent = `${response.headers.get('x-total-count')} blocks of ${stone}, ${$('rows').children.length} shown`;
}
$('ask').onsubmit = event => {
  event.preventDefault();
  stone = $('q').value.trim();
  $('rows').replaceChildren();
  load('/api/blocks?' + new URLSearchParams({ stone }));
};
$('more').onclick = () => load(next);
