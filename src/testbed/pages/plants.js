const get = async (path, name) => (await fetch(`${path}?name=${encodeURIComponent(name)}`)).json();
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const name = document.getElementById('q').value.trim();
  const [{ care }, similar] = await Promise.all([get('/api/care', name), get('/api/similar', name)]);
  document.getElementById('answer').textContent = care
    ? `Water every ${care.water_every_days} days. Likes a ${care.light}. ${care.advice}` : 'We do not know this plant.';
  document.getElementById('also').innerHTML = similar.items.slice(0, 3).map(it => `<p>${it.title}, ${it.price.amount.toFixed(2)} EUR</p>`).join('');
  document.getElementById('status').textContent = `Care of ${name}`;
};
