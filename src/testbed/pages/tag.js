(() => {
  const send = (event, details) => navigator.sendBeacon('//metrics.tracker.test/collect',
    JSON.stringify({ event, details, page: location.href, title: document.title, screen: [screen.width, screen.height] }));
  window.track = send;
  send('page_view', { referrer: document.referrer });
  addEventListener('pagehide', () => send('page_leave', {}));
})();
