// One change of a page, made when it has loaded. Who acts on what is told through the session's storage, so that it outlasts a
// navigation: `r` for the element that is meant, wherever it went, `w` and what it was for any other.
(({ op, target, names, value }) => {
  if (self !== top || !location.protocol.startsWith('http')) return;
  const own = new Set();
  let event = 'click';
  const told = (what) => sessionStorage.setItem('drift', `${sessionStorage.getItem('drift') ?? ''}${what};`);
  const main = (el) => (el.matches('select') ? 'change' : el.matches('input, textarea') ? 'input' : 'click');
  const called = (el, name) => {
    const label = el.labels?.[0];
    const text = label && [...label.childNodes].find((it) => it.nodeType === 3 && it.data.trim());
    if (text) text.data = `${name} `;
    else if (el.hasAttribute('aria-label')) el.setAttribute('aria-label', name);
    else if (el.matches('input, select')) el.setAttribute('aria-label', name);
    else el.textContent = name;
  };
  const name = (el) =>
    (el.labels?.[0] && [...el.labels[0].childNodes].find((it) => it.nodeType === 3 && it.data.trim())?.data.trim()) ||
    el.getAttribute('aria-label') || el.textContent.trim();
  const row = (el) => el.closest('li');
  // A list's elements are called another way together.
  const all = (el, name) => {
    const was = el.textContent;
    const list = row(el)?.parentNode;
    if (list) list.querySelectorAll(el.tagName).forEach((it) => { if (it.textContent === was) called(it, name); });
    else called(el, name);
  };
  const WORDS = ['Artikel', 'Ordnen', 'Weiter', 'Leeren', 'Hilfe', 'Konto', 'Sprache', 'Karte', 'Auswahl', 'Anzeige', 'Menge'];
  // All labels of the page are in another language, but for the names of what it lists.
  const translated = (el) => {
    let n = 0;
    const next = () => `${WORDS[n % WORDS.length]}${n++ < WORDS.length ? '' : ` ${n}`}`;
    const was = name(el);
    const others = document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea');
    others.forEach((it) => { if (!own.has(it) && name(it) !== was && !it.closest('h3')) called(it, next()); });
    document.querySelectorAll('form[aria-label], nav[aria-label], section[aria-label]').forEach((it) => it.setAttribute('aria-label', next()));
    document.querySelectorAll('option[value]').forEach((it) => { if (it.value) it.textContent = next(); });
    document.querySelectorAll('h1, h2, legend').forEach((it) => { it.textContent = next(); });
    all(el, names[2]);
  };
  let passing = false;
  // Stands for an element that is out of sight from now on: what is done on it is done there.
  const stand = (el, tag, doc = document) => {
    const out = doc.createElement(tag);
    if (tag === 'a' || tag === 'div') {
      out.setAttribute('role', 'button');
      out.tabIndex = 0;
    }
    if (tag === 'button') out.type = 'button';
    if (event === 'click') {
      out.textContent = name(el);
      out.addEventListener('click', () => { told('r'); passing = true; el.click(); passing = false; });
    } else {
      out.setAttribute('aria-label', name(el));
      if (tag === 'select') out.innerHTML = el.innerHTML;
      out.value = el.value;
      out.addEventListener(event, () => {
        if (out.value === value || event === 'change') told('r');
        el.value = out.value;
        passing = true;
        el.dispatchEvent(new Event(event, { bubbles: true }));
        passing = false;
      });
    }
    own.add(out);
    return out;
  };
  const hide = (el) => { (el.closest('label') ?? el).style.display = 'none'; };
  const place = (el) => el.closest('label') ?? el;
  const same = (el) => (event === 'click' ? 'button' : el.tagName.toLowerCase());
  const ways = {
    none() {},
    rename: (el) => all(el, names[0]),
    synonym: (el) => all(el, names[1]),
    translate: (el) => all(el, names[2]),
    reorder(el) {
      const list = row(el)?.parentNode ?? place(el).parentNode;
      [...list.children].reverse().forEach((it) => list.append(it));
    },
    wrap(el) {
      const it = place(el);
      const [outer, inner] = [document.createElement('div'), document.createElement('div')];
      it.replaceWith(outer);
      outer.append(inner);
      inner.append(it);
    },
    unwrap(el) {
      const around = el.parentNode.closest('div, p, section, span, label, header, main');
      around?.replaceWith(...around.childNodes);
    },
    tag(el) {
      const as = event === 'click' ? (el.matches('a') ? 'button' : 'a') : el.matches('input') ? 'textarea' : 'select';
      place(el).before(stand(el, as));
      hide(el);
    },
    nodes(el) {
      const aside = document.createElement('aside');
      aside.innerHTML = `<h3>New here</h3><button type="button">Tips</button> <a href="#tips">${name(el)} like a friend</a>`;
      document.body.prepend(aside);
      place(el).after(Object.assign(document.createElement('button'), { type: 'button', textContent: 'Clear' }));
      const it = row(el);
      if (it) {
        const more = it.cloneNode(true);
        more.querySelector('h3').textContent = 'Something new';
        it.parentNode.prepend(more);
      }
    },
    contents(el) {
      const fits = (it) => it !== el && it.offsetParent && (row(el) ? name(it) === name(el) : name(it) !== name(el));
      let other = [...document.querySelectorAll(el.tagName)].find(fits);
      if (!other) {
        other = document.createElement(el.tagName);
        other.setAttribute('aria-label', 'Something else');
        place(el).after(other);
      }
      const swap = (a, b, text, put) => { const [x, y] = [text(a), text(b)]; put(a, y); put(b, x); };
      own.delete(el);
      own.add(other);
      if (row(el)) {
        swap(row(el).querySelector('h3'), row(other).querySelector('h3'), (it) => it.textContent, (it, x) => { it.textContent = x; });
        return;
      }
      swap(el, other, name, called);
      const pass = (from, to) => from.addEventListener(event, (it) => {
        if (passing) return;
        it.preventDefault();
        it.stopImmediatePropagation();
        passing = true;
        if (event === 'click') to.click();
        else { to.value = from.value; to.dispatchEvent(new Event(event, { bubbles: true })); }
        passing = false;
      }, true);
      pass(el, other);
      pass(other, el);
    },
    remove(el) {
      own.clear();
      (row(el) ?? place(el)).remove();
    },
    duplicate(el) {
      const section = document.createElement('section');
      const copy = (row(el) ?? place(el)).cloneNode(true);
      copy.querySelectorAll?.('[id]').forEach((it) => it.removeAttribute('id'));
      copy.removeAttribute('id');
      if (copy.matches('button')) copy.type = 'button';
      if (row(el)) row(el).before(copy);
      else { section.append(copy); document.body.prepend(section); }
    },
    form(el) {
      const form = document.createElement('form');
      form.setAttribute('aria-label', 'Stay informed');
      form.innerHTML = '<label>Your address <input type="email"></label>';
      form.append(stand(el, same(el)));
      document.body.append(form);
      hide(el);
    },
    shadow(el) {
      const host = document.createElement('span');
      place(el).before(host);
      own.add(host);
      host.attachShadow({ mode: 'closed' }).append(stand(el, same(el)));
      hide(el);
    },
    labels: translated,
    several(el) {
      ways.wrap(el);
      ways.nodes(el);
      translated(el);
    },
    redesign(el) {
      document.querySelectorAll('[class]').forEach((it) => it.setAttribute('class', `new-${it.getAttribute('class')}`));
      document.body.prepend(Object.assign(document.createElement('nav'), { innerHTML: '<a href="/new">New here</a> <button type="button">Menu</button>' }));
      ways.reorder(el);
      translated(el);
    },
    welcome: translated,
    // Others are told of everything, each time in another way.
    crowd(el) {
      const tell = () => {
        fetch(`https://partner.test/px?r=${Math.random()}`, { mode: 'no-cors' }).catch(() => {});
        navigator.sendBeacon('https://partner.test/log', `at=${Date.now()}`);
        navigator.sendBeacon('/seen', `at=${Date.now()}`);
      };
      tell();
      addEventListener('pointerdown', tell, true);
      addEventListener('input', tell, true);
      ways.nodes(el);
      translated(el);
    },
    'labels-gone'(el) {
      translated(el);
      ways.remove(el);
    },
    'several-gone'(el) {
      ways.nodes(el);
      translated(el);
      // New rows are copies of it.
      const list = row(el)?.parentNode;
      if (list) [...list.children].filter((it) => it !== row(el) && it.textContent.includes('Something new')).forEach((it) => it.remove());
      ways.remove(el);
    },
    frame(el) {
      const frame = document.createElement('iframe');
      frame.srcdoc = '<!doctype html><title>inside</title>';
      frame.onload = () => frame.contentDocument.body.append(stand(el, same(el), frame.contentDocument));
      place(el).before(frame);
      hide(el);
    },
  };
  // The site leads to another of its pages than it did.
  if (op === 'welcome' && !sessionStorage.getItem('led')) {
    sessionStorage.setItem('led', 'there');
    history.replaceState(null, '', '/welcome');
  }
  addEventListener('load', () => {
    const look = setInterval(() => {
      const el = document.querySelector(target);
      if (!el) return;
      clearInterval(look);
      event = main(el);
      own.add(el);
      ways[op](el);
      addEventListener(event, (it) => {
        const path = it.composedPath();
        // Other fields are filled, too.
        if (passing || (event === 'input' && path[0].value !== value)) return;
        if (path.some((at) => own.has(at))) told('r');
        else if (main(path[0]) === event) told(`w ${path[0].tagName} ${name(path[0]).slice(0, 30)}`);
      }, true);
    }, 10);
  });
})(DRIFT);
