if (!document.cookie.includes('visitor=')) document.cookie = 'visitor={{visitor}}; path=/';
const show = async (league, name) => {
  const { table } = await (await fetch('/api/rank?' + new URLSearchParams({ league, season: '2026' }))).json();
  document.getElementById('rows').innerHTML = table.map(it =>
    `<tr><td>${it.place}</td><td>${it.club}</td><td>${it.points}</td><td>${it.change}</td></tr>`).join('');
  document.getElementById('status').textContent = name;
};
for (const tab of document.querySelectorAll('[role=tab]')) tab.onclick = () => show(tab.dataset.league, tab.textContent);
