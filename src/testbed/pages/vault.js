async function look() {
  const q = document.querySelector('#box').value.trim();
  const response = await fetch('/api/boxes?q=' + encodeURIComponent(q));
  const target = document.querySelector('#boxes');
  if (response.status === 401) { target.textContent = 'The vault is locked.'; return; }
  const { total, boxes } = await response.json();
  target.innerHTML = `<h2>${total} results for ${q}</h2>` + boxes.map(b =>
    `<p>${b.label} <b>${b.box}</b>, kept by ${b.keeper} since ${b.since}, insured for ${b.insured}</p>`).join('');
}
document.querySelector('#look').onclick = look;
document.querySelector('#box').onkeydown = event => { if (event.key === 'Enter') look(); };
