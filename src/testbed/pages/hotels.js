document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const place = document.getElementById('q').value.trim();
  const { total, hotels } = await (await fetch('/api/hotels?' + new URLSearchParams({ place, nights: 1 }))).json();
  document.getElementById('hotels').innerHTML = hotels.map(hotel => `<div class="card"><h3>${hotel.name}</h3><p>${hotel.code}, ${hotel.place},
    ${hotel.night.toFixed(2)} EUR, manager ${hotel.manager.name}</p><p>${hotel.about}</p></div>`).join('');
  const log = { event: 'search_results', query: place, shown: total, results: hotels, page: location.pathname };
  await fetch('/api/log', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(log) });
  document.getElementById('status').textContent = `${total} results for ${place}`;
};
