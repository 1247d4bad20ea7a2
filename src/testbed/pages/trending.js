fetch('/api/trending?limit=6').then(r => r.json()).then(({ topics }) => {
  const box = document.getElementById('trending');
  box.innerHTML = '<h2>Trending this week</h2>' +
    topics.map(t => `<p><a href="${t.url}">${t.rank}. ${t.title}</a> ${t.views} views</p>`).join('');
});
