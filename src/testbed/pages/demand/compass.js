let drawn = 0;
document.getElementById('ask').onsubmit = event => {
  event.preventDefault();
  const command = document.getElementById('command').value;
  navigator.sendBeacon('/beacon', new Blob([JSON.stringify({ length: command.length })], { type: 'application/json' }));
  const [, x, y, r] = command.match(/circle at (\d+),(\d+) radius (\d+)/) ?? [];
  if (!r) { document.getElementById('status').textContent = 'Not understood'; return; }
  drawn += 1;
  document.getElementById('sheet').insertAdjacentHTML('beforeend', `<circle cx="${x * 10}" cy="${y * 10}" r="${r * 5}" fill="none" stroke="black"/>`);
  document.getElementById('objects').insertAdjacentHTML('beforeend', `<li><b>c${drawn}</b> circle, centre (${x}, ${y}), radius ${r}</li>`);
  document.getElementById('status').textContent = `Drew c${drawn}`;
};
