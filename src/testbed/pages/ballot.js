let nonce = document.querySelector('meta[name=form-nonce]').content;
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const name = document.getElementById('q').value.trim();
  const answer = await (await fetch('/api/candidates?' + new URLSearchParams({ name, nonce }))).json();
  nonce = answer.next_nonce;
  document.getElementById('status').textContent = `${answer.total} results for ${name}`;
  document.getElementById('candidates').innerHTML = answer.candidates.map(it => `<p><b>${it.name}</b> ${it.list}, ${it.trade}, born ${it.born}.
    ${it.promise}</p>`).join('');
};
