document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const form = new FormData(event.target);
  const word = name => event.target.querySelector(`[name=${name}] :checked, [name=${name}]:checked`).closest('option, label').textContent.trim();
  const { total, lots } = await (await fetch('/api/landings?' + new URLSearchParams(form))).json();
  document.getElementById('status').textContent = `${total} results for ${word('cat')}, ${word('when')}`;
  document.getElementById('prices').innerHTML = lots.map(it => `<div class="card"><h3>${it.lot}</h3>
    <p>${it.boat}, ${it.skipper.name}, ${it.kilos} kg</p><p>${it.per_kilo.toFixed(2)} EUR</p></div>`).join('');
};
