let mark = '', place = '';
const seen = new Set();
const load = async () => {
  const answer = await (await fetch('/finds?' + new URLSearchParams(mark ? { place, mark } : { place }))).json();
  const fresh = answer.finds.filter(it => !seen.has(it.number));
  fresh.forEach(it => seen.add(it.number));
  document.getElementById('finds').insertAdjacentHTML('beforeend', fresh.map(it =>
    `<tr><td>${it.number}</td><td>${it.species}</td><td>${it.found}</td><td>${it.finder}</td></tr>`).join(''));
  document.getElementById('more').hidden = answer.mark === mark || answer.finds.length < 20;
  mark = answer.mark;
  document.getElementById('status').textContent = `Finds in ${place}`;
};
document.getElementById('ask').onsubmit = event => {
  event.preventDefault();
  mark = ''; seen.clear(); place = document.getElementById('place').value;
  document.getElementById('finds').innerHTML = '';
  load();
};
document.getElementById('more').onclick = load;
