document.getElementById('jobs').addEventListener('submit', event => {
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(event.target));
  fetch('/search', { method: 'POST', body: fields, headers: { accept: 'application/json' } })
    .then(response => response.json())
    .then(({ count, jobs }) => {
      const cards = jobs.map(job => `<article class="card"><h3>${job.position}</h3>
        <p>${job.employer.name} · ${job.place} · ${job.salary.from} to ${job.salary.to} ${job.salary.currency}</p>
        <p>${job.summary}</p><time>${job.posted}</time></article>`);
      document.getElementById('list').innerHTML = `<p>${count} results for ${fields.get('keywords')}</p>` + cards.join('');
    });
});
