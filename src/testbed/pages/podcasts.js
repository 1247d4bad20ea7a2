const state = window.__INITIAL_STATE__;
if (state) {
  const { term, total, shows } = state.search;
  document.getElementById('shows').innerHTML = `<h2>${total} results for ${term}</h2>` + shows.map(show => `<div class="card"><h3>${show.title}</h3>
    <p>${show.host.name}, ${show.episodes} episodes</p><p>${show.latest.title} ${show.latest.minutes} minutes, ${show.latest.on}</p></div>`).join('');
}
