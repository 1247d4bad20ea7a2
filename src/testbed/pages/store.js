document.getElementById('order').addEventListener('click', async () => {
  const note = document.getElementById('note').value;
  const response = await fetch('/api/orders', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ sku: 'KETTLE-15', quantity: 1, note }),
  });
  const order = await response.json();
  document.getElementById('receipt').textContent = `Order ${order.order_id} is ${order.status}. Note for the carrier: ${order.note}`;
});
