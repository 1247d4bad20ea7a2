const targets = [
  'http://127.0.0.1:{{port}}/hit',
  'http://169.254.169.254/latest/meta-data/',
  'http://intranet.example.com/',
  'http://localhost/',
  'http://[::1]/',
];
const patience = 2000;
// Every way ends, whatever comes of it.
const settled = start => new Promise(done => { setTimeout(done, patience); try { start(done); } catch { done(); } });
const ways = {
  fetch: url => settled(done => fetch(url, { mode: 'no-cors' }).then(done, done)),
  image: url => settled(done => { const i = new Image(); i.onload = i.onerror = done; i.src = url; }),
  socket: url => settled(done => { const s = new WebSocket(url.replace('http', 'ws')); s.onopen = s.onerror = done; }),
  frame: url => settled(done => { const f = document.createElement('iframe'); f.onload = done; f.src = url; document.body.append(f); }),
};
Promise.all(targets.flatMap(url => Object.values(ways).map(way => way(url))))
  .then(() => { document.getElementById('state').textContent = 'done'; });
