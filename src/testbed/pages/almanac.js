const { buildId } = JSON.parse(document.getElementById('__BUILD__').textContent);
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const q = document.getElementById('q').value.trim();
  const response = await fetch(`/_data/${buildId}/search.json?q=${encodeURIComponent(q)}`, { headers: { 'x-data': '1' } });
  const { pageProps } = await response.json();
  document.getElementById('status').textContent = `${pageProps.total} results for ${q}`;
  document.getElementById('advice').innerHTML = pageProps.entries.map(it => `<div class="card"><h3>${it.title}</h3>
    <p>Week ${it.week}, ${it.moon} moon, says ${it.by.name}</p><p>${it.text}</p></div>`).join('');
};
