const crews = fetch('/api/crews').then(response => response.json());
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const name = document.getElementById('crew').value.trim();
  const found = (await crews).crews.find(it => it.name === name);
  const status = document.getElementById('status');
  if (!found) { status.textContent = `No crew is called ${name}`; return; }
  const { watches } = await (await fetch(`/api/crews/${found.number}/roster`)).json();
  document.getElementById('roster').innerHTML = `<table><thead><tr><th>Begins</th><th>Officer</th><th>Lookout</th><th>Boat</th><th>Remark</th></tr></thead><tbody>`
    + watches.map(it => `<tr><td>${it.begins}</td><td>${it.officer}</td><td>${it.lookout}</td><td>${it.boat}</td><td>${it.remark}</td></tr>`).join('') + '</tbody></table>';
  status.textContent = `Roster of ${name}`;
};
