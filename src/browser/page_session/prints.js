// What an element is known by besides its role and its label: attributes that last, and where it stands, none of which is a label.
function () {
  const CONTROLS = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=""],[contenteditable=true],' +
    '[role=button],[role=link],[role=tab],[role=menuitem],[role=option],[role=checkbox],[role=radio],[role=switch],[role=combobox],[role=textbox],[role=searchbox]';
  const out = {};
  const get = (it, name) => (it instanceof Element ? it.getAttribute(name) ?? '' : '');
  const put = (name, it) => { if (typeof it === 'string' && it !== '') out[name] = it.slice(0, 200).toWellFormed(); };
  // A button without a type has one all the same.
  const type = it => (it instanceof HTMLButtonElement ? it.type : get(it, 'type').toLowerCase());
  put('type', type(this));
  for (const name of ['id', 'name', 'placeholder', 'autocomplete']) put(name, get(this, name));
  put('testid', get(this, 'data-testid') || get(this, 'data-test'));
  const href = get(this, 'href');
  if (href && !href.startsWith('javascript:')) put('href', href.split('#')[0]);
  if (!(this instanceof Element)) return out;
  // What a box stands for is no label.
  if (['radio', 'checkbox'].includes(out.type)) put('value', get(this, 'value'));
  if (this instanceof HTMLSelectElement)
    out.options = JSON.stringify(Array.from(this.options).slice(0, 60).map(it => [it.label.slice(0, 80).toWellFormed(), it.value.slice(0, 80).toWellFormed()]));
  put('tag', this.localName);
  put('class', get(this, 'class').split(/\s+/).filter(it => it).sort().slice(0, 8).join(' '));
  put('does', ['formaction', 'onclick', 'aria-controls', 'data-action'].map(it => get(this, it).trim()).filter(it => it).join(' '));
  const form = this.closest('form');
  if (form) put('form', ['id', 'name', 'method', 'action'].map(it => get(form, it)).filter(it => it).join(' ') || 'form');
  // Wrappers come and go.
  const path = [];
  for (let it = this.parentElement; it && path.length < 4; it = it.parentElement)
    if (!['div', 'span'].includes(it.localName)) path.push(it.localName);
  put('path', path.join(' '));
  const kind = it => {
    const of = ['input', 'button'].includes(it.localName) ? type(it) : '';
    return (get(it, 'role') || it.localName) + (of ? ':' + of : '');
  };
  const seen = it => it === this || it.checkVisibility();
  // The controls before and after it, in the order of the document, whatever they are wrapped in.
  const all = Array.from(this.getRootNode().querySelectorAll(CONTROLS));
  const at = all.indexOf(this);
  if (at >= 0) {
    const next = (from, by) => {
      const found = [];
      for (let i = from + by; i >= 0 && i < all.length && found.length < 6 && Math.abs(i - from) < 60; i += by)
        if (seen(all[i])) found.push(all[i]);
      return found;
    };
    const [before, after] = [next(at, -1).reverse(), next(at, 1)];
    put('shape', [...before.map(kind), '>' + kind(this), ...after.map(kind)].join(' '));
    const marks = [...before.slice(-3), ...after.slice(0, 3)].map(it => get(it, 'name') || (get(it, 'id') && '#' + get(it, 'id')));
    put('beside', marks.filter(it => it && !/\s/.test(it)).join(' '));
  }
  // How many of each kind the part of the page has that it is in.
  for (let it = this.parentElement; it && it !== document.body; it = it.parentElement) {
    if (!it.matches('li,tr,article,form,fieldset,dialog,nav,section,aside,header,footer,main,[id],[role]')) continue;
    const held = Array.from(it.querySelectorAll(CONTROLS)).slice(0, 200).filter(seen);
    if (held.length < 2) continue;
    put('among', held.length < 40 ? String(held.filter(it => kind(it) === kind(this)).length) : '');
    break;
  }
  return out;
}
