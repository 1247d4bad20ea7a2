try { importScripts('http://{{service-worker-import}}/'); } catch {}
self.addEventListener('install', event => {
  self.skipWaiting();
  event.waitUntil(Promise.allSettled([
    fetch('http://{{service-worker-fetch}}/', { mode: 'no-cors' }),
    fetch('/redir/302?http://{{service-worker-redirect}}/', { mode: 'no-cors' }),
    caches.open('y').then(it => it.add(new Request('http://{{service-worker-cache}}/', { mode: 'no-cors' }))),
  ]));
  try { new WebSocket('ws://{{service-worker-websocket}}/'); } catch {}
});
