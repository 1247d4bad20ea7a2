function sign(to) {
  let hash = 5381;
  const text = 'fare-table-3:' + to;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 33) + text.charCodeAt(i)) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const to = document.getElementById('to').value.trim();
  const { total, fares } = await (await fetch('/api/fares?' + new URLSearchParams({ to, sig: sign(to) }))).json();
  document.getElementById('status').textContent = `${total} results for ${to}`;
  document.getElementById('fares').innerHTML = fares.map(it => `<p><b>${it.ticket}</b> ${it.price.toFixed(2)} EUR from ${it.valid_from},
    ask ${it.conductor.name}. ${it.conditions}</p>`).join('');
};
