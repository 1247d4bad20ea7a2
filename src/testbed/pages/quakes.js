document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const region = document.getElementById('region').value.trim();
  const response = await fetch('/export/tremors.ndjson?' + new URLSearchParams({ region, order: 'time' }));
  const lines = (await response.text()).split('\n').filter(Boolean).map(line => JSON.parse(line));
  document.getElementById('status').textContent = `${lines.length} results for ${region}`;
  document.getElementById('tremors').innerHTML = lines.map(it => `<p><b>M ${it.magnitude}</b> ${it.place}, ${it.depth_km} km deep,
    ${it.on}, read by ${it.analyst} (${it.event})</p>`).join('');
};
