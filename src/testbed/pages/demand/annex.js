const show = async () => {
  const week = document.getElementById('week').value;
  const { shifts } = await (await fetch('/shifts.json?' + new URLSearchParams({ week }))).json();
  document.getElementById('shifts').innerHTML = shifts.map(it => `<tr><td>${it.day}</td><td>${it.post}</td><td>${it.hours}</td></tr>`).join('');
  document.getElementById('status').textContent = `Shifts of week ${week}`;
};
document.getElementById('ask').onsubmit = event => { event.preventDefault(); show(); };
