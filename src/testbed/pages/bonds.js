document.getElementById('ask').onsubmit = async event => {
  event.preventDefault();
  const issuer = document.getElementById('issuer').value.trim();
  const text = await (await fetch(`/_/data/bonds?issuer=${encodeURIComponent(issuer)}&hl=en&rt=j`)).text();
  const { result } = JSON.parse(text.slice(text.indexOf('\n')));
  document.getElementById('bonds').innerHTML = `<h2>${result.size} results for ${issuer}</h2>` + result.bonds.map(bond =>
    `<p><b>${bond.name}</b> ${bond.isin}, ${bond.coupon} %, at ${bond.price}, rated ${bond.rating}, registrar ${bond.registrar.name}</p>`).join('');
};
