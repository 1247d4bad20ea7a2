fetch('/my/loans.json').then(it => it.json()).then(({ loans }) => {
  document.getElementById('loans').innerHTML = loans.map(it => `<tr><td>${it.title}</td><td>${it.due}</td><td>${it.renewals}</td></tr>`).join('');
  document.getElementById('status').textContent = loans.length ? `${loans.length} loans` : 'You have borrowed nothing.';
});
