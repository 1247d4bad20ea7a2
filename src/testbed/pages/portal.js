const lines = {
  products: it => `<p><b>${it.title}</b> ${it.sku}, ${it.price.toFixed(2)}, ${it.stock} in stock, from ${it.supplier}</p>`,
  users: it => `<p><b>${it.display_name}</b> (${it.id}), ${it.city}, since ${it.joined}. ${it.bio}</p>`,
  orders: it => `<p><b>${it.number}</b> ${it.customer}, ${it.placed}, ${it.lines} lines, ${it.total.toFixed(2)}, ${it.status}</p>`,
};
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const q = document.getElementById('q').value.trim();
  const totals = await Promise.all(Object.keys(lines).map(async kind => {
    const { total, data } = await (await fetch(`/api/v1/${kind}?` + new URLSearchParams({ q, limit: 8 }))).json();
    document.getElementById(kind).innerHTML = data.map(lines[kind]).join('');
    return total;
  }));
  document.getElementById('status').textContent = `${totals.reduce((a, b) => a + b)} results for ${q}`;
};
