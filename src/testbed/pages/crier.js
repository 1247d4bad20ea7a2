const $ = id => document.getElementById(id);
let text = '';
let offset = 0;
let total = 0;
function load() {
  const request = new XMLHttpRequest();
  request.open('GET', `/api/posts?text=${encodeURIComponent(text)}&offset=${offset}&limit=6`);
  request.setRequestHeader('X-Requested-With', 'XMLHttpRequest');
  request.onload = () => {
    const { count, posts } = JSON.parse(request.responseText);
    total = count;
    offset += posts.length;
    $('posts').insertAdjacentHTML('beforeend', posts.map(post => `<article class="card" style="min-height: 9rem">
      <h3>${post.author.name}, ${post.street}</h3><p>${post.message}</p><time>${post.posted}</time> ${post.ayes} ayes</article>`).join(''));
    $('status').textContent = `${count} results for ${text}`;
    scrolling.unobserve($('end'));
    if (offset < total) scrolling.observe($('end'));
  };
  request.send();
}
const scrolling = new IntersectionObserver(([end]) => { if (end.isIntersecting && offset < total) load(); });
$('ask').onsubmit = event => {
  event.preventDefault();
  text = $('q').value.trim();
  offset = 0;
  $('posts').replaceChildren();
  load();
};
