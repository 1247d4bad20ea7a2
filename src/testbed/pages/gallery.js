const $ = id => document.getElementById(id);
let query = '';
let cursor = null;
async function load() {
  const params = new URLSearchParams({ q: query, size: 'thumb' });
  if (cursor) params.set('cursor', cursor);
  const page = await (await fetch('/api/photos?' + params)).json();
  cursor = page.next_cursor;
  $('more').hidden = !cursor;
  $('wall').insertAdjacentHTML('beforeend', page.photos.map(photo => `<figure><img src="${photo.thumbnail}" alt="" width="48" height="48">
    <figcaption><b>${photo.caption}</b> ${photo.plate}, ${photo.place} ${photo.year}, by ${photo.photographer.name}</figcaption></figure>`).join(''));
  $('status').textContent = `${page.total} results for ${query}, ${$('wall').children.length} shown`;
}
$('ask').onsubmit = event => {
  event.preventDefault();
  query = $('q').value.trim();
  cursor = null;
  $('wall').replaceChildren();
  load();
};
$('more').onclick = load;
