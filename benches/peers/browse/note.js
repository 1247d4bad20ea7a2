// Notes in the title of the top page what was acted on: `clicked NAME` or `filled NAME=VALUE`. With ?run=… in the address it
// tells the harness as well, and changes the page (`window.change`) when the harness lets it.
(() => {
  const run = new URLSearchParams(location.search).get('run');
  const ask = (what, more = '') => fetch(`/${what}?run=${encodeURIComponent(run)}${more}`, { keepalive: true });
  const clean = text => (text || '').replace(/\s+/g, ' ').trim();

  const note = what => {
    if (window !== top) return top.postMessage({ noted: what }, '*');
    document.title = what;
    if (run) ask('noted', `&what=${encodeURIComponent(what)}`);
  };
  addEventListener('message', it => it.data.noted && window === top && note(it.data.noted));

  const name = it => clean(it.dataset.n || it.getAttribute('aria-label') || it.labels?.[0]?.textContent || it.alt || it.title
    || it.placeholder || (/^(button|submit|reset)$/.test(it.type) && it.value) || it.textContent);
  const acted = '[data-n],a,button,input,select,textarea,summary,[role],[contenteditable]';
  // Of a closed root the document sees the host alone: such a page calls this for the root.
  window.watch = root => {
    root.addEventListener('click', event => {
      const it = event.composedPath()[0].closest(acted);
      if (!it) return;
      if (it.matches('a') && !('go' in it.dataset)) event.preventDefault();
      if (!it.disabled) note(`clicked ${name(it)}`);
    });
    root.addEventListener('input', event => {
      const it = event.composedPath()[0];
      if (it.type !== 'checkbox' && it.type !== 'radio') note(`filled ${name(it)}=${clean(it.value ?? it.textContent)}`);
    });
    root.addEventListener('submit', event => event.preventDefault());
  };
  watch(document);

  if (run && window === top) addEventListener('load', async () => {
    if (window.arrived) return ask('changed');
    if (!window.change) return;
    await ask('held');
    window.change();
    requestAnimationFrame(() => setTimeout(() => ask('changed')));
  });
})();
