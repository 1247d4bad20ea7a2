fetch('/locales/en.json').then(r => r.json()).then(l => { window.messages = l.messages; });
