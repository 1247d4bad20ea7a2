// What an element is known by besides its role and its label: attributes that last, and where it stands, none of which is a label.
function () {
  const CONTROLS = 'a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=""],[contenteditable=true],' +
    '[role=button],[role=link],[role=tab],[role=menuitem],[role=option],[role=checkbox],[role=radio],[role=switch],[role=combobox],[role=textbox],[role=searchbox]';
  const out = {};
  const get = (it, name) => (it instanceof Element ? it.getAttribute(name) ?? '' : '');
  const put = (name, it) => { if (typeof it === 'string' && it !== '') out[name] = it.slice(0, 200).toWellFormed(); };
  for (const name of ['type', 'id', 'name', 'placeholder', 'autocomplete']) put(name, get(this, name));
  put('testid', get(this, 'data-testid') || get(this, 'data-test'));
  const href = get(this, 'href');
  if (href && !href.startsWith('javascript:')) put('href', href.split('#')[0]);
  if (!(this instanceof Element)) return out;
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
  // The nearest part of the page that holds other controls, too, and all of them in their order.
  const of = it => Array.from(it.querySelectorAll(CONTROLS)).slice(0, 200).filter(it => it === this || it.checkVisibility());
  let all = [];
  for (let it = this.parentElement, up = 0; it && up < 12 && all.length < 2; it = it.parentElement, up += 1) all = of(it);
  const rows = this.closest('li,tr,article,form,fieldset,dialog,nav');
  if (rows) {
    const held = of(rows);
    if (held.length > 1) all = held;
  }
  const kind = it => {
    const type = ['input', 'button'].includes(it.localName) ? get(it, 'type').toLowerCase() : '';
    return (get(it, 'role') || it.localName) + (type ? ':' + type : '');
  };
  const at = all.indexOf(this);
  if (at >= 0) {
    put('shape', all.slice(Math.max(0, at - 6), at + 7).map(it => (it === this ? '>' : '') + kind(it)).join(' '));
    const marks = all.filter(it => it !== this).map(it => get(it, 'name') || (get(it, 'id') && '#' + get(it, 'id')));
    put('beside', marks.filter(it => it && !/\s/.test(it)).slice(0, 8).join(' '));
  }
  return out;
}
