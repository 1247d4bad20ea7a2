async function look() {
  const q = document.querySelector('#box').value.trim();
  const response = await fetch('/api/threads?q=' + encodeURIComponent(q));
  const target = document.querySelector('#threads');
  if (response.status === 401) { target.textContent = 'Your session has ended. Please reload.'; return; }
  const { total, threads } = await response.json();
  target.innerHTML = `<h2>${total} results for ${q}</h2>` + threads.map(t =>
    `<p><a href="${t.url}">${t.subject}</a> ${t.replies} replies, started by ${t.starter.name}${t.solved ? ', solved' : ''}<br>${t.excerpt}</p>`).join('');
}
document.querySelector('#look').onclick = look;
document.querySelector('#box').onkeydown = event => { if (event.key === 'Enter') look(); };
