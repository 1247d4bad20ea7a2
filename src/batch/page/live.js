const now = document.getElementById('now').dataset, stale = document.getElementById('stale');
function took(ms) {
  const s = Math.max(0, Math.floor(ms / 1000));
  if (s < 60) return s + '\u00a0s';
  return s < 3600 ? Math.floor(s / 60) + '\u00a0min\u00a0' + s % 60 + '\u00a0s' : Math.floor(s / 3600) + '\u00a0h\u00a0' + Math.floor(s % 3600 / 60) + '\u00a0min';
}
function tick() {
  const silent = Date.now() - now.at, dead = silent > now.stale;
  for (const it of document.querySelectorAll('[data-since]')) it.textContent = dead ? 'not known' : took(Date.now() - it.dataset.since);
  stale.hidden = !dead;
  if (dead) {
    document.getElementById('state').textContent = 'interrupted';
    document.getElementById('silent').textContent = took(silent);
  }
  return dead;
}
// Not while somebody types, chooses or marks a text.
function again() {
  const busy = ['INPUT', 'SELECT'].includes(document.activeElement?.tagName) || String(getSelection());
  if (busy) return setTimeout(again, 1000);
  keep();
  location.reload();
}
setTimeout(again, tick() ? 10000 : 2000);
setInterval(tick, 1000);
