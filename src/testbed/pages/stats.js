document.getElementById('draw').onclick = async () => {
  const country = document.getElementById('country').value.trim();
  const url = `/data/series?country=${encodeURIComponent(country)}&_t=${Date.now()}&cb=${Math.random()}`;
  const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), b => b.toString(16).padStart(2, '0')).join('');
  const data = await (await fetch(url, { cache: 'no-store', headers: { 'x-request-id': id } })).json();
  document.getElementById('series').innerHTML =
    `<h2>${data.points.length} results for ${country}</h2><p>${data.indicator.label}, ${data.country.name}. ${data.source.office}, ${data.source.contact.name}</p>` +
    data.points.map(p => `<div>${p.year}: ${p.value} (${p.status})</div>`).join('');
};
