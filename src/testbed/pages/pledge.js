document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const name = document.getElementById('name').value.trim();
  const response = await fetch('/v1/pledges', {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name, pledge: 'bus' }),
  });
  const made = await response.json();
  document.getElementById('status').textContent = `Thank you, ${made.name}. You are number ${made.id}.`;
};
