document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const word = document.getElementById('word').value.trim();
  const { count, words } = await (await fetch('/lookup', { method: 'POST', body: word })).json();
  document.getElementById('status').textContent = `${count} results for ${word}`;
  document.getElementById('words').innerHTML = words.map(it => `<li><b>${it.word}</b> (${it.register}) ${it.usage}</li>`).join('');
};
