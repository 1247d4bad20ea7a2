document.getElementById('filter').addEventListener('keydown', event => {
  if (event.key === 'Enter') document.getElementById('state').textContent = `All entries shown, filter: ${event.target.value.trim()}`;
});
