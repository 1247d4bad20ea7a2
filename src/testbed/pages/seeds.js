document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const q = document.getElementById('q').value.trim();
  const { count, packets } = await (await fetch('/api/search?q=' + encodeURIComponent(q))).json();
  document.getElementById('status').textContent = `${count} results for ${q}`;
  document.getElementById('seeds').innerHTML = packets.map(it => `<div class="card"><h3>${it.variety}</h3>
    <p>${it.accession}, ${it.seeds} seeds, sow from ${it.sow_from}, given by ${it.donor.name}</p><p>${it.notes}</p></div>`).join('');
};
