document.getElementById('aid').onsubmit = event => {
  event.preventDefault();
  const term = document.getElementById('term').value.trim();
  fetch('/api/records?term=' + encodeURIComponent(term)).then(r => r.json()).then(answer => {
    const shown = answer.result.records.slice(0, 20);
    document.getElementById('records').innerHTML = `<h2>${answer.total} results for ${term}</h2>` + shown.map(r =>
      `<div class="card"><h3>${r.title}</h3><p>${r.signature}, ${r.dates.from} to ${r.dates.to}, ${r.creator.name}</p><p>${r.scope[0]}</p></div>`).join('');
  });
};
