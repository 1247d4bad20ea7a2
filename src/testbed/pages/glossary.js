const loaded = fetch('/terms.json').then(response => response.json());
document.getElementById('q').oninput = async ({ target }) => {
  const { terms } = await loaded;
  const found = terms.filter(it => it.term.toLowerCase().includes(target.value.trim().toLowerCase()));
  document.getElementById('terms').innerHTML = found.map(it => `<dt>${it.term}</dt><dd>${it.meaning} First seen in ${it.first_seen}.</dd>`).join('');
  document.getElementById('status').textContent = `${found.length} results for ${target.value.trim()}`;
};
