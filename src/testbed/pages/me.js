fetch('/api/users/me', { credentials: 'same-origin' }).then(async r => {
  const who = document.getElementById('who');
  if (who) who.textContent = r.ok ? 'Guest' : 'Sign in';
});
