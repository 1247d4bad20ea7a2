function jsonp(url, done) {
  const name = 'jsonp_' + Date.now() + '_' + Math.floor(Math.random() * 1e6);
  const script = document.createElement('script');
  window[name] = answer => {
    delete window[name];
    script.remove();
    done(answer);
  };
  script.src = `${url}&callback=${name}`;
  document.body.append(script);
}
document.getElementById('ask').onsubmit = event => {
  event.preventDefault();
  const q = document.getElementById('q').value.trim();
  jsonp(`/places/lookup?q=${encodeURIComponent(q)}&maxRows=12&style=full`, ({ totalResultsCount, geonames }) => {
    document.getElementById('status').textContent = `${totalResultsCount} results for ${q}`;
    document.getElementById('places').innerHTML = geonames.map(place => `<p><b>${place.name}</b>, ${place.district},
      ${place.country} (${place.latitude}, ${place.longitude}), ${place.population} people</p>`).join('');
  });
};
