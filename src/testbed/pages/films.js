const hashes = { Banner: '{{banner}}', FilmSearch: '{{films}}', PeopleSearch: '{{people}}' };
const extensions = operation => ({ persistedQuery: { version: 1, sha256Hash: hashes[operation] } });
async function get(operationName, variables) {
  const params = new URLSearchParams({ operationName, variables: JSON.stringify(variables), extensions: JSON.stringify(extensions(operationName)) });
  return (await (await fetch('/graphql?' + params, { headers: { accept: 'application/json' } })).json()).data;
}
async function post(operationName, variables) {
  const body = JSON.stringify({ operationName, variables, extensions: extensions(operationName) });
  const response = await fetch('/graphql', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return (await response.json()).data;
}
const show = (status, lines) => {
  document.getElementById('status').textContent = status;
  document.getElementById('found').innerHTML = lines.join('');
};
get('Banner', {});
document.getElementById('films').onsubmit = async event => {
  event.preventDefault();
  const title = document.getElementById('film').value.trim();
  const { films } = await get('FilmSearch', { title, first: 8 });
  show(`${films.total} results for ${title}`, films.nodes.map(it => `<div class="card"><h3>${it.title} (${it.year})</h3>
    <p>${it.director.name}, ${it.minutes} minutes</p><p>${it.synopsis}</p></div>`));
};
document.getElementById('people').onsubmit = async event => {
  event.preventDefault();
  const name = document.getElementById('person').value.trim();
  const { people } = await post('PeopleSearch', { name });
  show(`${people.total} results for ${name}`, people.nodes.map(it =>
    `<p><b>${it.name}</b>, ${it.role}, born ${it.born.year} in ${it.born.place}, known for ${it.knownFor}</p>`));
};
