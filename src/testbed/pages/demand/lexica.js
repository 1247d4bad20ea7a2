const word = document.getElementById('word');
word.onchange = async () => {
  const near = await fetch(`//suggest.lexica.test/near?word=${encodeURIComponent(word.value)}`).then(it => it.json());
  document.getElementById('near').textContent = `Near: ${near.join(', ')}`;
};
onAsk(async () => {
  const list = document.getElementById('language'), asked = encodeURIComponent(word.value);
  fetch(`//count.lexica.test/seen?word=${asked}&language=${list.value}`);
  const { meanings } = await fetch(`//${list.value}.lexica.test/meanings?word=${asked}`).then(it => it.json());
  fill('meanings', meanings.map(it => [it.meaning, it.since, it.source]));
  say(`${meanings.length} meanings of ${word.value} in ${list.selectedOptions[0].label}`);
});
