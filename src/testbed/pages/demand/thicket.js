const form = document.getElementById('write');
form.onsubmit = async event => {
  event.preventDefault();
  const text = document.getElementById('text').value;
  const answer = await fetch('/c', {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ post: Number(form.dataset.post), text, nonce: form.dataset.nonce }),
  });
  const it = await answer.json();
  document.getElementById('status').textContent = answer.ok ? `Comment ${it.number} sent` : it.error;
  if (!answer.ok) return;
  const item = document.createElement('li');
  item.append(Object.assign(document.createElement('b'), { textContent: it.by }), ' ' + it.text);
  document.getElementById('comments').append(item);
};
