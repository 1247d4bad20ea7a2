const $ = id => document.getElementById(id);
let trade = '';
let draw = 0;
let start = 0;
async function load() {
  const params = new URLSearchParams({ draw: ++draw, start, length: 7, 'search[value]': trade, 'search[regex]': false, 'order[0][column]': 0, 'order[0][dir]': 'asc' });
  const page = await (await fetch('/entries.json?' + params)).json();
  $('rows').innerHTML = page.data.map(it => `<tr><td>${it.year}</td><td>${it.entry}</td><td>${it.clerk}</td><td>${it.shillings}</td></tr>`).join('');
  $('more').hidden = start + page.data.length >= page.recordsFiltered;
  $('status').textContent = `Entries ${start + 1} to ${start + page.data.length} of ${page.recordsFiltered} about ${trade}`;
}
$('ask').onsubmit = event => {
  event.preventDefault();
  trade = $('q').value.trim();
  start = 0;
  load();
};
$('more').onclick = () => { start += 7; load(); };
