document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const colour = document.getElementById('colour').value;
  const { taste } = Object.fromEntries(new FormData(event.target));
  const { total, wines } = await (await fetch('/api/wines?' + new URLSearchParams({ colour, taste }))).json();
  document.getElementById('status').textContent = `${total} results: ${colour}, ${taste}`;
  document.getElementById('wines').innerHTML = wines.map(wine => `<div class="card"><h3>${wine.label} ${wine.vintage}</h3>
    <p>${wine.grower.name}, ${wine.country}, ${wine.bottle.toFixed(2)} EUR</p><p>${wine.tasting}</p></div>`).join('');
};
