let latest = 0;
document.getElementById('q').oninput = async ({ target }) => {
  const name = target.value.trim();
  const mine = ++latest;
  if (name.length < 2) return;
  const { total, birds } = await (await fetch('/api/live?name=' + encodeURIComponent(name))).json();
  if (mine !== latest) return;
  document.getElementById('birds').innerHTML = birds.map(bird => `<p><b>${bird.name}</b> ring ${bird.ring}, ${bird.wingspan_cm} cm,
    seen in ${bird.seen_in} on ${bird.on} by ${bird.seen_by.name}</p>`).join('');
  document.getElementById('status').textContent = `${total} results for ${name}.`;
};
