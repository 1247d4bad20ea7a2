const sent = document.getElementById('__PAGE_DATA__');
const kitchen = document.getElementById('kitchen');
if (sent) {
  const { query, total, recipes } = JSON.parse(sent.textContent).props;
  const heading = document.createElement('h2');
  heading.textContent = `${total} results for ${query}`;
  kitchen.append(heading);
  for (const recipe of recipes) {
    const card = document.createElement('div');
    card.className = 'card';
    card.innerHTML = `<img src="${recipe.image}" alt=""><h3><a href="${recipe.href}"></a></h3><p></p><small></small>`;
    card.querySelector('a').textContent = recipe.name;
    card.querySelector('p').textContent = recipe.teaser;
    card.querySelector('small').textContent = `${recipe.minutes} minutes, serves ${recipe.serves}, by ${recipe.cook.name}`;
    kitchen.append(card);
  }
} else {
  kitchen.innerHTML = '<h1>What is in the cupboard?</h1><p>Type an ingredient.</p>';
}
