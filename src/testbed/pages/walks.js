document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const town = document.getElementById('town').value.trim();
  const slug = town.toLowerCase().split(/[^\p{L}\p{N}]+/u).filter(Boolean).join('-');
  const answer = await (await fetch(`/c/${slug}/walks.json`)).json();
  document.getElementById('status').textContent = `${answer.count} results for ${town}`;
  document.getElementById('walks').innerHTML = answer.walks.map(walk => `<div class="card"><h3>${walk.title}</h3><p>From ${walk.start},
    ${walk.kilometres} km, ${walk.minutes} minutes, with ${walk.guide.name}</p><p>${walk.remark}</p></div>`).join('');
};
