onAsk(async () => {
  const hall = document.getElementById('hall').value, goods = document.getElementById('goods').value;
  const { stock } = await fetch(`//north.mirrors.test/stock?goods=${encodeURIComponent(goods)}`).then(it => it.json());
  const here = stock.filter(it => it.hall === hall);
  fill('stock', here.map(it => [it.article, it.crates, it.until]));
  say(`${here.length} articles of ${goods} in the ${hall} hall`);
});
