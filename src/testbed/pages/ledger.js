let id = 0;
async function rpc(method, params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method, params });
  const response = await fetch('/rpc', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return (await response.json()).result;
}
rpc('session.hello', { client: 'web', build: 311 });
rpc('rates.latest', { base: 'EUR' }).then(rates => {
  document.getElementById('rates').textContent = `An extract costs ${rates.extract} ${rates.base}.`;
});
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const name = document.getElementById('name').value.trim();
  const { count, companies } = await rpc('companies.find', { name, limit: 10, include: ['owner', 'seat'] });
  document.getElementById('firms').innerHTML = `<h2>${count} results for ${name}</h2>` + companies.map(firm =>
    `<div class="card"><h3>${firm.name}</h3><p>${firm.number}, ${firm.seat}, founded ${firm.founded}, capital ${firm.capital} EUR,
    owned by ${firm.owner.name}</p><p>${firm.purpose}</p></div>`).join('');
};
