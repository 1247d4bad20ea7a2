(async () => {
  const response = await fetch('//ads.adnet.test/bid', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-adnet-version': '7.2' },
    body: JSON.stringify({ page: location.hostname, slots: ['side', 'foot'], sizes: [[300, 250], [728, 90]] }),
  });
  const { bids } = await response.json();
  const box = document.getElementById('sponsored');
  if (box) box.innerHTML = '<small>Advertisement</small>' + bids.slice(0, 2).map(b =>
    `<p><a href="${b.creative.url}">${b.creative.title}</a><br>${b.creative.description}<img src="${b.creative.image}" alt=""></p>`).join('');
})();
