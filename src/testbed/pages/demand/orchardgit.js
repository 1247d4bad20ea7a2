const button = document.getElementById('star');
const csrf = document.cookie.match(/orchard_csrf=([^;]+)/)[1];
const call = method => fetch('/api/star/' + button.dataset.project, { method, headers: { 'x-csrf': csrf } }).then(it => it.json());
const show = state => {
  button.setAttribute('aria-pressed', state.starred);
  button.textContent = state.starred ? 'Unstar' : 'Star';
  document.getElementById('status').textContent = state.starred ? 'You starred this.' : 'Not starred.';
};
call('GET').then(show);
button.onclick = async () => {
  const answer = await call(button.getAttribute('aria-pressed') === 'true' ? 'DELETE' : 'PUT');
  if (answer.ok) show(await call('GET'));
  else document.getElementById('status').textContent = 'Not done: ' + answer.why;
};
