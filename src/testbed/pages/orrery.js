const $ = id => document.getElementById(id);
const query = 'query Bodies($sky: String!, $first: Int!, $after: String) { bodies(sky: $sky, first: $first, after: $after) { totalCount edges { node { name class magnitude observer { name } night } } pageInfo { hasNextPage endCursor } } }';
let sky = '';
let after = null;
async function load() {
  const body = JSON.stringify({ operationName: 'Bodies', query, variables: { sky, first: 7, after } });
  const response = await fetch('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { bodies } = (await response.json()).data;
  after = bodies.pageInfo.endCursor;
  $('more').hidden = !bodies.pageInfo.hasNextPage;
  $('rows').insertAdjacentHTML('beforeend', bodies.edges.map(({ node: it }) => `<li><b>${it.name}</b> ${it.class}, magnitude ${it.magnitude}, seen by ${it.observer.name} on ${it.night}</li>`).join(''));
  $('status').textContent = `${bodies.totalCount} bodies in ${sky}, ${$('rows').children.length} shown`;
}
$('ask').onsubmit = event => {
  event.preventDefault();
  sky = $('q').value.trim();
  after = null;
  $('rows').replaceChildren();
  load();
};
$('more').onclick = load;
