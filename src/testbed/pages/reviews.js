const documents = {
  Reviews: 'query Reviews { reviews { id text stars author { name } } }',
  AddReview: 'mutation AddReview($text: String!, $stars: Int!) { addReview(text: $text, stars: $stars) { review { id text stars } reviews { id text stars author { name } } } }',
};
async function run(operationName, variables) {
  const response = await fetch('/api/graphql', {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ operationName, query: documents[operationName], variables }),
  });
  return (await response.json()).data;
}
const show = reviews => {
  document.getElementById('reviews').innerHTML = reviews.map(it => `<p>${'★'.repeat(it.stars)} ${it.text} <i>${it.author.name}</i></p>`).join('');
};
run('Reviews', {}).then(({ reviews }) => show(reviews));
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const text = document.getElementById('text').value.trim();
  const { addReview } = await run('AddReview', { text, stars: 4 });
  show([addReview.review, ...addReview.reviews].map(it => ({ author: { name: 'you' }, ...it })));
  document.getElementById('status').textContent = `Published: ${text}`;
};
