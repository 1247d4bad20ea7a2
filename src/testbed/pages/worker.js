const worker = new Worker('/workers/stars.js');
worker.onmessage = ({ data: { name, answer } }) => {
  document.getElementById('stars').innerHTML = `<h2>${answer.count} results for ${name}</h2>` + answer.stars.map(s =>
    `<p><b>${s.designation}</b> (${s.catalogue}) magnitude ${s.magnitude}, ${s.distance_ly} light years, seen by ${s.discovery.observer.name}. ${s.notes}</p>`).join('');
};
document.getElementById('go').onclick = () => worker.postMessage(document.getElementById('name').value.trim());
document.getElementById('name').onkeydown = event => { if (event.key === 'Enter') document.getElementById('go').click(); };
