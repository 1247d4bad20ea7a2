fetch('/api/theme').then(r => r.json()).then(theme => { document.body.style.fontSize = theme.font_size + 'px'; });
const q = new URLSearchParams(location.search).get('q');
if (q) {
  fetch('/api/quotes?q=' + encodeURIComponent(q)).then(r => r.json()).then(answer => {
    document.getElementById('quotes').innerHTML = answer.quotes.map(item =>
      `<blockquote>${item.quote}<footer>${item.author.name}, ${item.work.title} (${item.work.year})</footer></blockquote>`).join('');
    parent.postMessage({ total: answer.total, q }, '*');
  });
}
