(function () {
  const form = document.getElementById('again');
  if (!form) return;
  const has = (it) => form.dataset.variants.split(' ').includes(it);
  const quantity = document.getElementById('quantity'), date = document.getElementById('date');
  const total = document.getElementById('total'), placed = document.getElementById('placed');
  let cents = Number(form.dataset.cents), risen = 0;

  const sum = () => '€' + ((cents * Number(quantity.value) + risen) / 100).toFixed(2);
  const show = () => { total.textContent = sum(); };
  quantity.addEventListener('input', show);

  async function send(order) {
    const response = await fetch('/orders' + (has('redirect') ? '?redirect=1' : ''), {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(order),
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    return answer;
  }

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    placed.textContent = 'One moment';
    try {
      const order = { order: form.dataset.order, quantity: Number(quantity.value), date: date.value, total: sum() };
      const answer = await send(order);
      placed.textContent = 'Order placed: ' + answer.id;
      if (has('second')) await send({ extra: 'insurance', order: answer.id, total: '€4.90' });
    } catch (error) {
      if (!placed.textContent.startsWith('Order placed')) placed.textContent = 'The order was not placed: ' + error.message;
    }
  });

  // The total rises by itself, when somebody outside says so.
  function wait(after) {
    const bumps = new EventSource('/api/bumps?after=' + after);
    bumps.onmessage = (event) => {
      bumps.close();
      risen += 100;
      show();
      // The server takes this request as the sign that the total has risen.
      wait(event.data);
    };
  }
  if (has('drift')) wait(form.dataset.bumps);
})();
