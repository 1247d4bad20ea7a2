const show = async () => {
  const hall = document.getElementById('hall').value;
  const path = '/crates.json?' + new URLSearchParams({ hall });
  let answer = await fetch(path);
  if (answer.status === 401) {
    const renewed = await fetch('/session/renew', { method: 'POST' });
    if (!renewed.ok) { location.href = '/login'; return; }
    answer = await fetch(path);
  }
  const { crates } = await answer.json();
  document.getElementById('crates').innerHTML = crates.map(it => `<tr><td>${it.mark}</td><td>${it.content}</td><td>${it.weight}</td></tr>`).join('');
  document.getElementById('status').textContent = `Crates in ${hall}`;
};
document.getElementById('ask').onsubmit = event => { event.preventDefault(); show(); };
