document.getElementById('name').addEventListener('keydown', async event => {
  if (event.key !== 'Enter') return;
  const response = await fetch('/api/members?q=' + encodeURIComponent(event.target.value.trim()));
  if (response.status === 401) document.getElementById('login').hidden = false;
});
document.getElementById('login').addEventListener('submit', async event => {
  event.preventDefault();
  const response = await fetch('/api/login', { method: 'POST', body: new URLSearchParams(new FormData(event.target)) });
  document.getElementById('refused').textContent = (await response.json()).error ?? '';
});
