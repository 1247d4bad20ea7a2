document.querySelector('#ask').onsubmit = async event => {
  event.preventDefault();
  const city = new FormData(event.target).get('city').trim();
  const response = await fetch(`/api/weather/v2/${encodeURIComponent(city)}/forecast`);
  const section = document.querySelector('#forecast');
  if (!response.ok) { section.textContent = 'No forecast: ' + response.status; return; }
  const { location: place, station, days } = await response.json();
  const rows = days.map(day => {
    const row = document.createElement('tr');
    for (const text of [day.date, day.summary, `${day.low}° to ${day.high}°`, `${day.precipitation.chance}% rain`, `${day.wind.speed} km/h ${day.wind.direction}`]) {
      row.insertCell().textContent = text;
    }
    return row;
  });
  const table = document.createElement('table');
  table.append(...rows);
  const title = document.createElement('h2');
  title.textContent = `7-day forecast for ${city}`;
  const where = document.createElement('p');
  where.textContent = `${place.name}, ${place.country} · station ${station.id}, ${station.operator.name}`;
  section.replaceChildren(title, where, table);
};
