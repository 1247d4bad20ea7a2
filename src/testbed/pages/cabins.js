document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const check_in = document.getElementById('arrival').value.trim();
  const check_out = document.getElementById('departure').value.trim();
  const params = new URLSearchParams({ check_in, check_out, guests: 2, currency: 'EUR' });
  const { available, cabins } = await (await fetch('/api/availability?' + params)).json();
  document.getElementById('status').textContent = `${available} results from ${check_in} to ${check_out}`;
  document.getElementById('cabins').innerHTML = cabins.map(cabin => `<div class="card"><h3>${cabin.name}</h3><p>${cabin.lake}, ${cabin.beds} beds,
    ${cabin.night.toFixed(2)} EUR a night, host ${cabin.host.name}, free until ${cabin.free_until}</p></div>`).join('');
};
