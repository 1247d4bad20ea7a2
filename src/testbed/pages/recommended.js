fetch('/api/recommendations?slot=home').then(r => r.json()).then(({ items }) => {
  const box = document.getElementById('recommended');
  box.innerHTML = '<h2>Recommended for you</h2>' + items.slice(0, 6).map(i =>
    `<div class="card"><h3>${i.title}</h3><p>${i.subtitle}</p><img src="${i.images[0].src}" alt=""></div>`).join('');
});
