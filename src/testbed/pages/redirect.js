document.getElementById('lost').onsubmit = async event => {
  event.preventDefault();
  const q = document.getElementById('q').value.trim();
  const { total, items } = await fetch('/old-api?q=' + encodeURIComponent(q)).then(r => r.json());
  document.getElementById('items').innerHTML = `<h2>${total} results for ${q}</h2>` + items.map(i =>
    `<p><b>${i.title}</b> ${i.tag}, ${i.station}, fee ${i.fee.toFixed(2)}. ${i.description}</p>`).join('');
};
