let sent = 100;
async function batch(...calls) {
  const body = JSON.stringify(calls.map(([method, params]) => ({ jsonrpc: '2.0', id: ++sent, method, params })));
  const response = await fetch('/services', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return (await response.json()).map(answer => answer.result);
}
batch(['user.current', {}], ['tides.next', { port: 'main' }]).then(([, tide]) => {
  document.getElementById('tide').textContent = `High water at ${tide.high}, ${tide.metres} m`;
});
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const name = document.getElementById('vessel').value.trim();
  const [notices, found] = await batch(['notices.list', { limit: 3 }], ['vessels.search', { name, page: 1 }], ['user.current', {}]);
  document.getElementById('status').textContent = `${found.total} results for ${name}`;
  document.getElementById('berths').innerHTML = found.vessels.map(v =>
    `<p><b>${v.name}</b> at ${v.berth}, ${v.flag}, ${v.length} m, skipper ${v.skipper}, since ${v.arrived}</p>`).join('') +
    `<p class="small">${notices[0].title}</p>`;
};
