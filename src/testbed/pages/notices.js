let tag = null;
async function look(q) {
  const headers = tag ? { 'if-none-match': tag } : {};
  const response = await fetch('/api/notices?q=' + encodeURIComponent(q), { headers });
  if (response.status === 304) {
    document.getElementById('fresh').textContent = 'Checked just now, nothing new.';
    return;
  }
  tag = response.headers.get('etag');
  const { found, notices } = await response.json();
  document.getElementById('notices').innerHTML = notices.map(it => `<article class="card"><h3>${it.heading}</h3><p>${it.text}</p>
    <p>${it.reference}, ${it.officer.name}, until ${it.until}</p></article>`).join('');
  document.getElementById('status').textContent = `${found} results for ${q}`;
  await look(q);
}
document.getElementById('ask').onsubmit = event => {
  event.preventDefault();
  tag = null;
  look(document.getElementById('q').value.trim());
};
