const documents = {
  Viewer: 'query Viewer { viewer { login avatarUrl } }',
  Notifications: 'query Notifications($first: Int) { notifications(first: $first) { totalCount nodes { id title read from { name } } } }',
  Trending: 'query Trending($period: Period) { trending(period: $period) { nodes { nameWithOwner description stargazerCount } } }',
  RepoSearch: 'query RepoSearch($q: String!, $first: Int) { search(q: $q, first: $first) { repositoryCount edges { cursor node { id nameWithOwner url description stargazerCount updatedAt primaryLanguage { name } owner { login } } } pageInfo { hasNextPage endCursor } } }',
};
async function run(operationName, variables = {}) {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-client-version': '2b90f' },
    body: JSON.stringify({ operationName, variables, query: documents[operationName] }),
  });
  return (await response.json()).data;
}
const $ = id => document.getElementById(id);
const line = repo => `<li><b>${repo.nameWithOwner}</b> ${repo.description} <span>${repo.stargazerCount} stars</span></li>`;

run('Viewer').then(data => { $('who').textContent = data.viewer?.login ?? 'Sign in'; });
run('Notifications', { first: 5 }).then(data => { $('bell').textContent = `${data.notifications.totalCount} announcements`; });
run('Trending', { period: 'WEEK' }).then(data => { $('popular').innerHTML = data.trending.nodes.slice(0, 5).map(line).join(''); });

$('find').addEventListener('submit', async event => {
  event.preventDefault();
  const q = $('term').value.trim();
  window.track?.('search', { q });
  const { search } = await run('RepoSearch', { q, first: 10 });
  $('found').innerHTML = `<h2>${search.repositoryCount} results for ${q}</h2><ul>${search.edges.map(e => line(e.node)).join('')}</ul>`;
});
