const numbers = fetch('/api/numbers').then(response => response.json());
const show = (rows, status) => {
  document.getElementById('found').innerHTML = rows.length ? `<table><thead><tr><th>Holder</th><th>Goods</th><th>Price</th><th>Remark</th></tr></thead><tbody>`
    + rows.map(it => `<tr><td>${it.holder}</td><td>${it.goods}</td><td>${it.price}</td><td>${it.remark}</td></tr>`).join('') + '</tbody></table>' : '';
  document.getElementById('status').textContent = status;
};
const asked = (form, field, show) => document.getElementById(form).onsubmit = event => {
  event.preventDefault();
  show(document.getElementById(field).value.trim());
};
const json = async (...call) => (await fetch(...call)).json();
asked('ask', 'market', async name => {
  const { stalls } = await json(`/api/market?name=${encodeURIComponent(name)}`);
  if (!stalls.length) return show([], `There are no stalls in ${name}`);
  show((await json(`/api/prices?stalls=${stalls.map(it => it.id).join(',')}`)).prices, `Prices in ${name}`);
});
asked('bids', 'auction', async name => {
  const { lots } = await json(`/api/auction?name=${encodeURIComponent(name)}`);
  show(await json('/api/lots/search', { method: 'POST', body: new URLSearchParams({ lots: lots.join('|') }) }), `Bids of ${name}`);
});
asked('compare', 'numbers', async given => {
  const known = (await numbers).stalls.map(it => String(it.number));
  const wanted = given.split(',').filter(it => known.includes(it));
  show((await json(`/api/compare?numbers=${wanted.join(',')}`)).stalls, `Comparison of ${given}`);
});
