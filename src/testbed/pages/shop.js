const form = document.getElementById('search');
const box = form.elements.q;
const suggestions = document.getElementById('suggestions');

box.addEventListener('input', async () => {
  if (!box.value.trim()) return suggestions.replaceChildren();
  const typed = box.value;
  const response = await fetch('/api/suggest?q=' + encodeURIComponent(typed));
  const answer = await response.json();
  if (typed !== box.value) return;
  suggestions.innerHTML = answer.suggestions.map(s => `<li>${s.text}</li>`).join('');
});

form.addEventListener('submit', async event => {
  event.preventDefault();
  const q = box.value.trim();
  window.track?.('search', { term: q });
  const params = new URLSearchParams({ q, page: 1 });
  const answer = await (await fetch('/api/search?' + params, { headers: { accept: 'application/json' } })).json();
  suggestions.replaceChildren();
  document.getElementById('results').innerHTML = answer.items.map(item => `
    <div class="card"><img src="${item.image}" alt="" width="48" height="48">
    <h3><a href="${item.url}">${item.title}</a></h3>
    <p>${item.description}</p>
    <p><b>${item.price.toFixed(2)} ${item.currency}</b> · ${item.rating} stars · sold by ${item.seller.name}
    ${item.in_stock ? '' : '· out of stock'}</p></div>`).join('');
  document.getElementById('status').textContent = `${answer.total} results for ${q}`;
});
