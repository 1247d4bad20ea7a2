document.getElementById('ask').onsubmit = event => {
  event.preventDefault();
  const q = document.getElementById('q').value.trim();
  const request = new XMLHttpRequest();
  request.open('GET', '/lights?q=' + encodeURIComponent(q));
  request.setRequestHeader('Accept', 'application/json');
  request.responseType = 'json';
  request.onload = () => {
    const { count, lights } = request.response;
    document.getElementById('status').textContent = `${count} results for ${q}`;
    document.getElementById('lights').innerHTML = lights.map(it => `<p><b>${it.name}</b> ${it.number}, ${it.character}, ${it.range_nm} nm,
      ${it.height_m} m, keeper ${it.keeper}</p>`).join('');
  };
  request.send();
};
