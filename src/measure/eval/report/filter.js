const text = document.getElementById('text'), verdict = document.getElementById('verdict'), count = document.getElementById('count');
const cases = Array.from(document.querySelectorAll('details[data-verdict]'));
function show() {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const it of cases) {
    const about = it.dataset.about;
    const fits = (!verdict.value || (verdict.value === 'changed' ? it.dataset.changed === 'yes' : it.dataset.verdict === verdict.value)) && words.every(word => about.includes(word));
    it.hidden = !fits;
    if (fits) shown++;
  }
  count.textContent = shown + ' of ' + cases.length;
}
text.addEventListener('input', show);
verdict.addEventListener('change', show);
show();
