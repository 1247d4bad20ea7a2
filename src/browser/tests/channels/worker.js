const attempt = it => { try { const p = it(); if (p && p.catch) p.catch(() => {}); } catch {} };
attempt(() => fetch('http://{{worker-fetch}}/', { mode: 'no-cors' }));
attempt(() => fetch('/redir/302?http://{{worker-fetch-redirect}}/', { mode: 'no-cors' }));
attempt(() => new WebSocket('ws://{{worker-websocket}}/'));
attempt(() => { const x = new XMLHttpRequest(); x.open('GET', 'http://{{worker-xhr}}/'); x.send(); });
attempt(() => new Worker(URL.createObjectURL(new Blob(["fetch('http://{{nested-worker-fetch}}/', { mode: 'no-cors' })"]))));
attempt(() => importScripts('http://{{import-scripts}}/'));
