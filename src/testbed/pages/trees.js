document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const species = document.getElementById('species').value.trim();
  const filter = JSON.stringify({ species: { like: species }, felled: false });
  const response = await fetch('/rest/trees?' + new URLSearchParams({ filter, api_version: 2, limit: 10, fields: '*' }));
  const { meta, data } = await response.json();
  document.getElementById('status').textContent = `${meta.total} results for ${species}`;
  document.getElementById('trees').innerHTML = data.map(tree => `<p><b>${tree.species}</b> no. ${tree.number}, ${tree.street}, planted ${tree.planted},
    ${tree.height_m} m, warden ${tree.warden.name}</p>`).join('');
};
