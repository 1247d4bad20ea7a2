document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const g = document.getElementById('grams').value, to = document.getElementById('to').value;
  const promoted = fetch('/v2/quotes/promoted?' + new URLSearchParams({ g, to })).then(it => it.json());
  const { quotes } = await (await fetch('/v2/quotes?' + new URLSearchParams({ g, to, lang: 'en' }))).json();
  document.getElementById('quotes').innerHTML = quotes.map(it =>
    `<tr><td>${it.carrier}</td><td>€${it.price.toFixed(2)}</td><td>${it.days}</td><td>${it.note ?? ''}</td></tr>`).join('');
  document.getElementById('promoted').innerHTML = (await promoted).quotes.map(it => `<li>${it.carrier} from €${it.price.toFixed(2)}</li>`).join('');
};
