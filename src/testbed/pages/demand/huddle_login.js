document.getElementById('login').onsubmit = async event => {
  event.preventDefault();
  const answer = await fetch('//api.huddle.test/session', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(Object.fromEntries(new FormData(event.target))),
  });
  if (!answer.ok) { document.querySelector('h1').textContent = 'Wrong name or password'; return; }
  const { access, refresh, workspace } = await answer.json();
  localStorage.setItem('huddle.session', JSON.stringify({ tokens: { access, refresh }, at: 1 }));
  localStorage.setItem('huddle.workspace', workspace);
  location.href = '/';
};
