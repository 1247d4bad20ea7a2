document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const berths = Number(document.getElementById('berths').value);
  const per_day = Number(document.getElementById('budget').value);
  const response = await fetch('/api/boats/search', {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ berths, budget: { per_day, currency: 'EUR' }, sail: true }),
  });
  const { count, boats } = await response.json();
  document.getElementById('status').textContent = `${count} results for ${berths} berths and ${per_day} EUR`;
  document.getElementById('boats').innerHTML = boats.map(boat => `<p><b>${boat.name}</b> ${boat.registration}, ${boat.berths} berths,
    ${boat.day_rate} EUR a day, ${boat.home_port}, owner ${boat.owner.name}</p>`).join('');
};
