const text = document.getElementById('text'), status = document.getElementById('status'), count = document.getElementById('count');
const tasks = Array.from(document.querySelectorAll('details.task')), list = document.getElementById('tasks');
const kept = history.state || {};
let why = kept.why || '';
function show() {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const it of tasks) {
    const about = it.textContent.toLowerCase();
    const fits = (!status.value || it.dataset.status === status.value) && (!why || it.dataset.why === why) && words.every(word => about.includes(word));
    it.hidden = !fits;
    if (fits) shown++;
  }
  count.textContent = shown + ' of ' + tasks.length + (why ? ', those with ' + why : '');
}
function all() { why = ''; text.value = status.value = ''; show(); }
// What a reader opened, typed and scrolled to is there again after a reload.
function keep() {
  const open = Array.from(document.querySelectorAll('details[id]')).map(it => [it.id, it.open]);
  history.replaceState({ open, text: text.value, status: status.value, why, at: scrollY }, '');
}
text.addEventListener('input', show);
status.addEventListener('change', show);
document.getElementById('reset').addEventListener('click', all);
for (const link of document.querySelectorAll('a[data-why]')) {
  link.addEventListener('click', () => {
    text.value = '';
    status.value = link.dataset.status;
    why = link.dataset.why;
    list.open = true;
    show();
  });
}
for (const link of document.querySelectorAll('a[data-task]')) {
  link.addEventListener('click', () => {
    all();
    list.open = true;
    document.getElementById(link.dataset.task).open = true;
  });
}
for (const [id, open] of kept.open || []) {
  const it = document.getElementById(id);
  if (it) it.open = open;
}
text.value = kept.text || '';
status.value = kept.status || '';
show();
if (kept.at) scrollTo(0, kept.at);
addEventListener('pagehide', keep);
