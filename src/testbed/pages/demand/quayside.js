const codes = Object.fromEntries(window.ports.split('|').map(it => it.split(':').reverse()));
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const [from, to, on] = ['from', 'to', 'date'].map(it => document.getElementById(it).value);
  const { sailings } = await (await fetch('/sail?' + new URLSearchParams({ o: codes[from] ?? '', d: codes[to] ?? '', on }))).json();
  document.getElementById('sailings').innerHTML = sailings.map(it =>
    `<tr><td>${it.departs}</td><td>${it.arrives}</td><td>${it.ship}</td><td>€${it.price.toFixed(2)}</td></tr>`).join('');
  document.getElementById('status').textContent = `${sailings.length} sailings from ${from} to ${to}`;
};
