document.getElementById('ask').addEventListener('submit', event => {
  event.preventDefault();
  const q = document.getElementById('q').value.trim();
  document.getElementById('widget').src = '//widget.framehost.test/widget?q=' + encodeURIComponent(q);
});
addEventListener('message', event => {
  if (event.origin !== location.protocol + '//widget.framehost.test') return;
  document.getElementById('status').textContent = `${event.data.total} results for ${event.data.q}`;
});
