document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const question = document.getElementById('question').value.trim();
  const { counsel } = await (await fetch('/api/counsel?question=' + encodeURIComponent(question))).json();
  document.getElementById('counsel').innerHTML = counsel.map(it => `<p>${it.verse}. ${it.text} <i>${it.priest.name}</i></p>`).join('');
  document.getElementById('status').textContent = `You asked: ${question}`;
};
