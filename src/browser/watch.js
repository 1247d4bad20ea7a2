// Runs in a world of its own in every frame of a window that is recorded by hand: tells what the person does. The page sees
// neither this world nor its binding, and events that the page makes up are not trusted.
(() => {
  const send = globalThis.commisTell;
  if (!send) return;
  const top = window === window.top;
  const elements = new Map();
  const numbers = new WeakMap();
  const looked = new WeakMap();
  const secrets = new WeakSet();
  let last = 0;
  // What was typed into, and when: an `input` without a key, a paste or a drop before it is the page's doing.
  let armed = null;
  let armedAt = 0;
  let keyed = null;

  globalThis.commisElement = n => elements.get(n)?.deref() ?? null;

  const tell = it => send(JSON.stringify(it));
  const cut = (text, max) => String(text ?? '').slice(0, max).toWellFormed();

  const WIDGETS = ['button', 'link', 'checkbox', 'radio', 'switch', 'tab', 'option', 'menuitem', 'menuitemcheckbox',
    'menuitemradio', 'treeitem', 'combobox', 'textbox', 'searchbox', 'slider', 'spinbutton'];
  const ACTIVE = 'a[href],area[href],button,input,select,textarea,option,summary,label,' +
    WIDGETS.map(it => `[role="${it}"]`).join(',');
  const TYPED = ['text', 'search', 'email', 'tel', 'url', 'number', 'password', ''];
  const PICKED = ['date', 'time', 'month', 'week', 'datetime-local', 'range', 'color'];

  // A form may have fields that are called as these are.
  const is = (it, selector) => Element.prototype.matches.call(it, selector);
  const inner = event => {
    const it = event.composedPath()[0];
    return it instanceof Element ? it : it?.parentElement ?? document.documentElement;
  };
  const actor = event => event.composedPath().find(it => it instanceof Element && is(it, ACTIVE)) ?? inner(event);
  const typedInto = it =>
    it instanceof HTMLTextAreaElement || it.isContentEditable ||
    (it instanceof HTMLInputElement && TYPED.includes(it.type));
  const field = it => {
    while (it.isContentEditable && it.parentElement?.isContentEditable) it = it.parentElement;
    return it;
  };
  const content = it => 'value' in it ? it.value : it.innerText;
  // Once a password, always one: pages show them on request.
  const secret = it => {
    if (!secrets.has(it) && (it.type === 'password' || /password|one-time-code|\bcc-/.test(it.autocomplete ?? '') ||
        !['none', ''].includes(getComputedStyle(it).webkitTextSecurity ?? ''))) secrets.add(it);
    return secrets.has(it);
  };
  // Names are the browser's to compute; this stands in where the element is gone before it is asked.
  const label = it => cut((it.getAttribute('aria-label') || (it.textContent.length < 400 && it.innerText) ||
    (it.type === 'submit' && it.value) || '').replace(/\s+/g, ' ').trim(), 80);

  // The element is about to be used: time to ask for its role and name, before the page changes it.
  const look = it => {
    last += 1;
    if (elements.size > 500) elements.delete(elements.keys().next().value);
    elements.set(last, new WeakRef(it));
    numbers.set(it, last);
    looked.set(it, performance.now());
    if (typedInto(it)) secret(it);
    tell({ k: 'look', el: last, field: cut(it.getAttribute('name') || it.id || '', 60) });
    return last;
  };
  const number = it => numbers.get(it) ?? look(it);

  const on = (kind, run) => addEventListener(kind, event => {
    if (!event.isTrusted) return;
    try { run(event); } catch { /* A page that breaks its own elements is not recorded. */ }
  }, { capture: true, passive: true });

  on('focusin', event => {
    const it = field(inner(event));
    if ((is(it, ACTIVE) || typedInto(it)) && !numbers.has(it)) look(it);
  });
  // What is clicked may be gone right after it, so it is looked at as the pointer comes; and it may have been called otherwise
  // before. A field stays the same, so that an edit stays one.
  const point = it => {
    const known = numbers.has(it) && (typedInto(it) || performance.now() - looked.get(it) < 2000);
    if (!known) look(it);
  };
  on('pointerover', event => {
    const it = actor(event);
    if (is(it, ACTIVE)) point(it);
  });
  on('pointerdown', event => { point(actor(event)); });

  const arm = event => { armed = field(inner(event)); armedAt = performance.now(); };
  for (const kind of ['paste', 'cut', 'drop', 'compositionstart', 'compositionupdate', 'compositionend']) on(kind, arm);

  const KEYS = ['Enter', 'Escape', 'ArrowUp', 'ArrowDown', 'Tab'];
  on('keydown', event => {
    arm(event);
    const it = armed;
    keyed = it;
    if (event.isComposing || event.repeat || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (!KEYS.includes(event.key) || it instanceof HTMLSelectElement) return;
    const press = () => tell({ k: 'press', el: number(it), v: event.key });
    if (event.key === 'Enter') {
      // These are clicked by it.
      if (is(it, 'a[href],button,summary,option,input[type=submit],input[type=button],input[type=reset],input[type=image]')) return;
      // Here it is a line break, unless the page makes something else of it.
      if (it instanceof HTMLTextAreaElement || it.isContentEditable) {
        setTimeout(() => { if (event.defaultPrevented) press(); });
        return;
      }
    } else if (event.key !== 'Escape' && !typedInto(it)) {
      return;
    }
    press();
  });

  on('input', event => {
    const it = field(inner(event));
    if (!typedInto(it) || armed !== it || performance.now() - armedAt > 2000) return;
    tell({ k: 'input', el: number(it), v: cut(content(it), 2000), secret: secret(it) });
  });
  on('change', event => {
    const it = inner(event);
    if (it instanceof HTMLSelectElement) {
      tell({ k: 'select', el: number(it), v: cut(it.selectedOptions[0]?.label.trim(), 2000), several: it.multiple });
    } else if (it instanceof HTMLInputElement && ['checkbox', 'radio'].includes(it.type)) {
      tell({ k: 'tick', el: number(it), on: it.checked, v: label(it) });
      looked.set(it, -Infinity);
    } else if (it instanceof HTMLInputElement && PICKED.includes(it.type)) {
      tell({ k: 'input', el: number(it), v: cut(it.value, 2000) });
    }
  });

  on('click', event => {
    const it = actor(event);
    // Its control is clicked next.
    if (it instanceof HTMLLabelElement && it.control) return;
    if (typedInto(field(it)) || it instanceof HTMLSelectElement || it instanceof HTMLOptionElement) return;
    // What comes of it is told.
    if (is(it, 'input[type=checkbox],input[type=radio]')) return;
    // By a key; of a button that a form was sent with by Enter in another field, the key was told.
    if (event.detail === 0 && it !== keyed) return;
    tell({ k: 'click', el: number(it), v: label(it) });
    looked.set(it, -Infinity);
  });

  // Of open shadow roots, which `innerText` leaves out.
  const shadows = () => {
    const roots = [document];
    for (let i = 0; i < roots.length; i++)
      for (const it of roots[i].querySelectorAll('*')) if (it.shadowRoot && roots.length < 1000) roots.push(it.shadowRoot);
    const shown = it => it instanceof HTMLElement && getComputedStyle(it).display !== 'none' && it.tagName !== 'STYLE';
    return roots.slice(1).map(it => Array.from(it.children).filter(shown).map(it => it.innerText).join('\n')).filter(it => it.trim());
  };

  const leave = () => tell({
    k: 'page',
    top,
    page: {
      url: location.href,
      title: cut(document.title, 4096),
      text: cut([document.body?.innerText ?? '', ...shadows()].join('\n'), 65536),
      password: !!document.querySelector('input[type=password]'),
      metas: Array.from(document.querySelectorAll('meta[name][content]'), it => [cut(it.name, 256), cut(it.content, 4096)]).slice(0, 200),
      drawn: globalThis.commisDrawn(400_000),
    },
  });
  on('pagehide', leave);
})();
