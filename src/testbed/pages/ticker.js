const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/feed`);
const open = new Promise(resolve => { socket.onopen = resolve; });
fetch('/api/grades').then(response => response.json());
let following = '';
socket.onmessage = ({ data }) => {
  const { total, quotes } = JSON.parse(data);
  document.getElementById('status').textContent = `${total} results for ${following}`;
  document.getElementById('quotes').innerHTML = quotes.map(it =>
    `<p><b>${it.lot}</b> ${it.bid} / ${it.ask}, ${it.origin}, called by ${it.broker.name}</p>`).join('');
};
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  following = document.getElementById('q').value.trim();
  await open;
  socket.send(JSON.stringify({ subscribe: following, depth: 10 }));
};
