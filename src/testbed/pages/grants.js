document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const topic = document.getElementById('topic').value.trim();
  const body = new URLSearchParams({ action: 'find_grants', payload: JSON.stringify({ topic, open: true, per_page: 10 }), nonce: '' });
  const { data } = await (await fetch('/ajax', { method: 'POST', body })).json();
  document.getElementById('status').textContent = `${data.total} results for ${topic}`;
  document.getElementById('grants').innerHTML = data.grants.map(grant => `<div class="card"><h3>${grant.title}</h3><p>${grant.call}, ${grant.giver},
    up to ${grant.amount.up_to} ${grant.amount.currency}, closes ${grant.closes}, ask ${grant.contact.name}</p><p>${grant.purpose}</p></div>`).join('');
};
