document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const item = document.getElementById('item').value.trim();
  const { added } = await (await fetch('/cart/add?' + new URLSearchParams({ item, qty: 1 }))).json();
  document.getElementById('basket').insertAdjacentHTML('beforeend', `<li><b>${added.item}</b> by ${added.brand}, ${added.price.toFixed(2)} EUR,
    packed by ${added.packed_by.name}, or else ${added.substitutes.join(' or ')}</li>`);
  document.getElementById('status').textContent = `In your basket: ${item}`;
};
