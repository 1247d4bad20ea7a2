const context = { client: { clientName: 'WEB', clientVersion: '2.20250601.00.00', hl: 'en', gl: 'SI', screenWidthPoints: innerWidth } };
const call = async (name, body) => (await fetch(`/lanternapi/v1/${name}?prettyPrint=false`, {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ context, ...body }),
})).json();
call('guide', {});
document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const query = document.getElementById('q').value.trim();
  const answer = await call('search', { query });
  const items = answer.contents.sectionListRenderer.contents[0].itemSectionRenderer.contents.map(it => it.videoRenderer);
  const text = it => it.simpleText ?? it.runs.map(run => run.text).join('');
  document.getElementById('videos').innerHTML = `<h2>${answer.estimatedResults} results for ${query}</h2>` + items.map(it =>
    `<div class="card"><h3>${text(it.title)}</h3><p>${text(it.ownerText)} · ${text(it.viewCountText)} · ${text(it.lengthText)}</p>
    <p>${text(it.descriptionSnippet)}</p></div>`).join('');
};
