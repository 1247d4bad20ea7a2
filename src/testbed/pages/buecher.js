document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const titel = document.getElementById('titel').value.trim();
  const answer = await (await fetch('/suche.json?' + new URLSearchParams({ titel, sprache: 'de' }))).json();
  document.getElementById('status').textContent = `${answer.anzahl} Treffer für ${titel}`;
  document.getElementById('regal').innerHTML = answer['bücher'].map(buch =>
    `<p><b>${buch.titel}</b> von ${buch.verfasser}, ${buch.jahr}, ${buch.preis.toFixed(2)} €. ${buch.zustand}</p>`).join('');
};
