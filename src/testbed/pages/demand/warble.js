const csrf = document.cookie.match(/warble_csrf=([^;]+)/)[1];
const sealOf = path => [...path].reverse().map(it => it.charCodeAt(0).toString(16).padStart(2, '0')).join('');
let cursor = null, loading = false, ended = false;
const load = async () => {
  if (loading || ended) return;
  loading = true;
  const variables = JSON.stringify(cursor ? { count: 10, cursor } : { count: 10 });
  const answer = await fetch('/g/{{hash}}/Home?variables=' + encodeURIComponent(variables), { headers: { 'x-csrf': csrf } });
  const { entries } = await answer.json();
  document.getElementById('posts').insertAdjacentHTML('beforeend', entries.filter(it => it.kind !== 'cursor').map(({ kind, post }) =>
    `<article class="${kind}"><b>${post.by}</b> <time>${post.on}</time><p>${post.text}</p></article>`).join(''));
  cursor = entries.find(it => it.kind === 'cursor')?.value;
  ended = !cursor;
  loading = false;
};
new IntersectionObserver(seen => { if (seen[0].isIntersecting) load(); }).observe(document.getElementById('end'));
const write = document.getElementById('write'), send = document.getElementById('send');
// The button wakes up late.
write.oninput = () => setTimeout(() => { send.disabled = !write.textContent.trim(); }, 150);
send.onclick = async () => {
  document.getElementById('status').textContent = 'Sent';
  const call = (path, body, type) => fetch(path, { method: 'POST', body, headers: { 'content-type': type, 'x-csrf': csrf, 'x-path-seal': sealOf(path) } }).then(it => it.json());
  const media = [];
  for (const file of document.getElementById('files').files) media.push((await call('/upload', file, 'application/octet-stream')).media);
  const answer = await call('/g/create/Create', JSON.stringify({ text: write.textContent.trim(), media }), 'application/json');
  document.getElementById('status').textContent = answer.ok ? 'Posted' : 'Not posted: ' + answer.why;
  if (answer.ok) { write.textContent = ''; send.disabled = true; }
};
