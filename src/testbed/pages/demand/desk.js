document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const number = document.getElementById('number').value;
  const csrf = document.cookie.match(/desk_csrf=([^;]+)/)[1];
  const answer = await fetch('/rest/tickets/' + encodeURIComponent(number), { headers: { 'x-csrf': csrf } });
  document.getElementById('status').textContent = answer.ok ? `Ticket ${number}` : `Ticket ${number} was not found`;
  document.getElementById('ticket').innerHTML = answer.ok
    ? Object.entries(await answer.json()).map(([key, it]) => `<dt>${key.replace('_', ' ')}</dt><dd>${it}</dd>`).join('') : '';
};
