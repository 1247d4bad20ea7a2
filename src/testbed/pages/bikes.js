document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const min_price = document.getElementById('min').value;
  const max_price = document.getElementById('max').value;
  const params = new URLSearchParams({ min_price, max_price, sort: 'price' });
  const { total, bikes } = await (await fetch('/api/bikes?' + params)).json();
  document.getElementById('status').textContent = `${total} results between ${min_price} and ${max_price} EUR`;
  document.getElementById('bikes').innerHTML = bikes.map(bike => `<p><b>${bike.model}</b> ${bike.price} EUR, ${bike.gears} gears,
    frame ${bike.frame}, checked ${bike.checked} by ${bike.mechanic}</p>`).join('');
};
