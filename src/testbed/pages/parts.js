const show = text => { document.getElementById('status').textContent = text; };
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const q = document.getElementById('q').value.trim();
  window.track?.('lookup', {});
  const found = await (await fetch('/api/find?q=' + encodeURIComponent(q))).json();
  if (!found.best.id) return show(`0 results for ${q}`);
  const sheet = await (await fetch('/detail/' + found.best.id)).json();
  document.getElementById('sheet').innerHTML = `<h2>Drawing ${sheet.drawing}</h2>
    <p>${sheet.material}, ${sheet.weight_kg} kg. Drawn by ${sheet.draughtsman.name}, approved ${sheet.approved}.</p>
    <table>${sheet.dimensions.map(d => `<tr><td>${d.label}</td><td>${d.mm} mm</td></tr>`).join('')}</table><p>${sheet.remarks}</p>`;
  show(`Data sheet for ${q}`);
};
