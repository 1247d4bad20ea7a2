const show = offers => {
  document.getElementById('offers').innerHTML = offers.map(o => `<div class="card"><b>${o.from} – ${o.to}</b> ${o.departs.replace('T', ' ')},
    ${o.minutes} minutes, ${o.operator.name}, ${o.aircraft}: ${o.fare.amount.toFixed(2)} ${o.fare.currency} (${o.fare.class})</div>`).join('');
};
const load = (from, to, limit) => fetch('/api/offers?' + new URLSearchParams({ from, to, limit })).then(r => r.json());

load('any', 'any', 5).then(answer => show(answer.offers));

document.getElementById('trip').addEventListener('submit', async event => {
  event.preventDefault();
  const { from, to } = Object.fromEntries(new FormData(event.target));
  const answer = await load(from, to, 20);
  show(answer.offers);
  document.getElementById('title').textContent = `${answer.found} results from ${from} to ${to}`;
});
