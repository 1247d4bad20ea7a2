document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const tags = ['one', 'two'].map(id => document.getElementById(id).value.trim());
  const params = new URLSearchParams(tags.map(tag => ['tag', tag]));
  params.append('order', 'popular');
  const { total, pictures } = await (await fetch('/api/pictures?' + params)).json();
  document.getElementById('status').textContent = `${total} results for ${tags.join(' and ')}`;
  document.getElementById('pictures').innerHTML = pictures.map(it => `<p><b>${it.caption}</b> no. ${it.number}, ${it.pixels.width} × ${it.pixels.height},
    ${it.licence}, by ${it.photographer.name}. ${it.story}</p>`).join('');
};
