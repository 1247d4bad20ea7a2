document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const department = document.getElementById('department').value.trim();
  const response = await fetch('/api/slots/search', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ department, days: 14 }),
  });
  document.getElementById('status').textContent = (await response.json()).message;
};
