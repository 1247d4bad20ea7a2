const field = document.querySelector('#q');
field.addEventListener('keydown', async event => {
  if (event.key !== 'Enter') return;
  const query = field.value.trim();
  const { host, appId, apiKey, index } = window.SEARCH;
  const response = await fetch(`//${host}/1/indexes/${index}/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-searchkit-application-id': appId, 'x-searchkit-api-key': apiKey },
    body: JSON.stringify({ query, hitsPerPage: 10, facets: ['*'] }),
  });
  const { hits, nbHits } = await response.json();
  const list = hits.map(hit => `<li><a href="${hit.url}">${hit.title}</a> <i>${hit.hierarchy.lvl0} › ${hit.hierarchy.lvl1}</i><br>${hit.content}</li>`);
  document.querySelector('#hits').innerHTML = `<p>${nbHits} results for ${query}</p><ol>${list.join('')}</ol>`;
});
