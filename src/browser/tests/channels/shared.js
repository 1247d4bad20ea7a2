fetch('http://{{shared-worker-fetch}}/', { mode: 'no-cors' }).catch(() => {});
try { new WebSocket('ws://{{shared-worker-websocket}}/'); } catch {}
try { importScripts('http://{{shared-worker-import}}/'); } catch {}
