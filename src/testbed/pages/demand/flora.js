const ask = (operationName, query, variables = {}) => fetch('/graph', {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ operationName, query, variables }),
}).then(it => it.json());
ask('Viewer', 'query Viewer { viewer { name } }');
ask('Tips', 'query Tips { tips }').then(it => { document.getElementById('tip').textContent = it.data.tips[0]; });
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const name = document.getElementById('name').value;
  ask('Families', 'query Families($name: String!) { plants: families(name: $name) { latin family vernacular } }', { name });
  const { data } = await ask('PlantSearch', 'query PlantSearch($name: String!, $limit: Int) { plants(name: $name, limit: $limit) { latin family vernacular } }',
    { name, limit: 10 });
  document.getElementById('plants').innerHTML = data.plants.map(it =>
    `<tr><td>${it.latin}</td><td>${it.family}</td><td>${it.vernacular.join(', ')}</td></tr>`).join('');
  document.getElementById('status').textContent = `${data.plants.length} plants for ${name}`;
};
