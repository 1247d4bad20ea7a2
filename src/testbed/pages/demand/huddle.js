const session = () => JSON.parse(localStorage.getItem('huddle.session') ?? 'null');
if (!session()) location.href = '/login';
const call = path => fetch('//api.huddle.test' + path, { headers: { authorization: 'Bearer ' + session().tokens.access } });
const renew = async () => {
  const answer = await fetch('//api.huddle.test/session/refresh', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ refresh: session().tokens.refresh }),
  });
  if (!answer.ok) { localStorage.removeItem('huddle.session'); location.href = '/login'; return false; }
  localStorage.setItem('huddle.session', JSON.stringify({ tokens: await answer.json(), at: session().at + 1 }));
  return true;
};
const show = async () => {
  const workspace = document.getElementById('workspace').value || localStorage.getItem('huddle.workspace');
  const path = '/rooms?' + new URLSearchParams({ workspace });
  let answer = await call(path);
  if (answer.status === 401 && await renew()) answer = await call(path);
  if (!answer.ok) { document.getElementById('status').textContent = 'Not a member of ' + workspace; return; }
  const { rooms } = await answer.json();
  document.getElementById('rooms').innerHTML = rooms.map(it => `<tr><td>${it.name}</td><td>${it.topic}</td><td>${it.unread}</td></tr>`).join('');
  document.getElementById('status').textContent = `${rooms.length} rooms in ${workspace}`;
};
document.getElementById('ask').onsubmit = event => { event.preventDefault(); show(); };
if (session()) show();
