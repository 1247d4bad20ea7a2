document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const q = document.getElementById('q').value.trim();
  window.track?.('search', { q });
  const response = await fetch('/api/lots?q=' + encodeURIComponent(q));
  const text = await response.text();
  if (!response.ok) {
    document.getElementById('status').textContent = 'Please confirm that you are not a robot';
    return;
  }
  const { lots } = JSON.parse(text);
  document.getElementById('lots').textContent = lots.map(lot => lot.title).join(', ');
};
