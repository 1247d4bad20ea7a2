const token = document.querySelector('meta[name=csrf-token]').content;
document.querySelector('#desk').addEventListener('submit', async event => {
  event.preventDefault();
  const text = event.target.elements.text.value.trim();
  const response = await fetch('/api/tickets/search', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-csrf-token': token },
    body: JSON.stringify({ text }),
  });
  const answer = await response.json();
  document.querySelector('#rows').replaceChildren(...answer.tickets.map(ticket => {
    const row = document.createElement('tr');
    for (const cell of [ticket.number, ticket.subject, ticket.body, ticket.status, ticket.reporter.name, ticket.opened]) {
      row.insertCell().textContent = cell;
    }
    return row;
  }));
  document.querySelector('#caption').textContent = `${answer.matches} results for ${text}`;
});
