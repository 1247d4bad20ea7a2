const shared = new SharedWorker('/shared/crossings.js', 'crossings');
shared.port.onmessage = ({ data: { island, answer } }) => {
  document.getElementById('status').textContent = `${answer.count} results for ${island}`;
  document.getElementById('crossings').innerHTML = answer.crossings.map(it => `<p><b>${it.ship}</b> ${it.departs} from ${it.from},
    ${it.minutes} minutes, ${it.fare.toFixed(2)} EUR, Captain ${it.captain.name}</p>`).join('');
};
document.getElementById('ask').onsubmit = event => {
  event.preventDefault();
  shared.port.postMessage(document.getElementById('island').value.trim());
};
