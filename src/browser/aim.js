// Which of the points, given as they are in the page's window, hits the element and nothing else. `x` and `y`: where the element's
// first box begins there, so that a frame's own coordinates are known. `arm`: events of the mouse are watched from then on, so
// that a press which would reach something else, or another row in the same nodes, does nothing; `strict` also where only numbers
// of the row went on.
function (points, x, y, arm) {
  const it = this instanceof Element ? this : this.parentElement;
  globalThis.commisAim?.end();
  const none = why => ({ at: -1, why, over: '', popup: false, disabled: false, framed: false, state: '' });
  if (!it?.isConnected) return none('gone');
  const box = it.getClientRects()[0];
  if (!box) return none('unseen');
  const view = it.ownerDocument.defaultView;
  const [dx, dy] = [box.x - x, box.y - y];
  const up = it => it.assignedSlot ?? it.parentElement ?? it.getRootNode().host ?? null;
  const within = (it, of) => { for (; it; it = up(it)) if (it === of) return true; return false; };
  // Shadow roots around it, closed ones, too, outermost first.
  const roots = [];
  for (let root = it.getRootNode(); root instanceof ShadowRoot; root = root.host.getRootNode()) roots.unshift(root);
  const hit = (x, y) => {
    let found = it.ownerDocument.elementFromPoint(x, y);
    for (const root of roots) {
      if (found !== root.host) break;
      found = root.elementFromPoint(x, y) ?? found;
    }
    for (let depth = 0; found?.shadowRoot && depth < 50; depth++) {
      const next = found.shadowRoot.elementFromPoint(x, y);
      if (!next || next === found) break;
      found = next;
    }
    return found;
  };
  const controls = 'a[href],button,label,summary,select,option,input,textarea,' +
    ['button', 'link', 'option', 'menuitem', 'menuitemcheckbox', 'menuitemradio', 'tab', 'checkbox', 'radio', 'switch']
      .map(it => '[role=' + it + ']').join();
  const control = it => { for (; it; it = up(it)) if (it.matches(controls)) return it; return null; };
  // What stands in a control acts as the control does.
  const whole = control(it);
  const labels = Array.from(it.labels ?? []);
  const reaches = by => within(by, it) || !!whole && control(by) === whole && whole !== it
    || labels.some(label => within(by, label) && [label, it].includes(control(by)));
  const called = by => {
    const lists = '[role=listbox],[role=option],[role=menu],[role=grid],[role=tree]';
    let popup = false, named = by;
    for (let it = by; it; it = up(it)) {
      if (it.matches(lists) || /suggest|autocomplete|typeahead|dropdown/i.test(it.id + ' ' + it.getAttribute('class'))) popup = true;
      if (popup && named === by) named = it;
    }
    const role = named.getAttribute('role') ?? named.tagName.toLowerCase();
    const text = (named.getAttribute('aria-label') ?? named.innerText ?? '').replace(/\s+/g, ' ').trim().slice(0, 60);
    return { over: (role + ' "' + text + '"').toWellFormed(), popup };
  };
  // Of what is on or off.
  const state = () => {
    const of = it instanceof HTMLLabelElement && it.control ? it.control : it;
    const aria = name => of.getAttribute('aria-' + name);
    if (of instanceof HTMLInputElement && ['checkbox', 'radio'].includes(of.type))
      return of.indeterminate ? 'mixed' : of.checked ? 'checked' : 'not checked';
    for (const name of ['checked', 'pressed', 'selected', 'expanded']) {
      const said = aria(name);
      if (said === 'mixed') return 'mixed';
      if (said === 'true' || said === 'false') return said === 'true' ? name : name === 'expanded' ? 'collapsed' : 'not ' + name;
    }
    return of.matches('summary') && of.parentElement instanceof HTMLDetailsElement ? (of.parentElement.open ? 'expanded' : 'collapsed') : '';
  };
  const inside = ([x, y]) => x + dx >= 0 && y + dy >= 0 && x + dx < view.innerWidth && y + dy < view.innerHeight;
  const disabled = it.matches(':disabled') || !!it.closest('[aria-disabled=true]');
  const framed = view !== view.top;
  const out = { at: -1, why: '', over: '', popup: false, disabled, framed, state: state() };
  const hits = points.map(point => inside(point) ? hit(point[0] + dx, point[1] + dy) : null);
  // Rather where nothing inside it, such as a link in a label, would take the click.
  out.at = hits.findIndex(by => by && reaches(by) && control(by) === whole);
  if (out.at < 0) out.at = hits.findIndex(by => by && reaches(by));
  if (out.at < 0) {
    const by = hits.find(it => it);
    if (!by) out.why = 'outside';
    else if (getComputedStyle(it).pointerEvents === 'none') out.why = 'inert';
    else Object.assign(out, { why: within(it, by) ? 'clipped' : 'covered' }, called(by));
    return out;
  }
  if (arm) {
    let judged = false, over = null;
    // What it says and stands in: lists put other contents into their nodes. `numbers` go on in rows that are the same.
    const says = () => {
      const own = it.textContent;
      let more = own;
      for (let at = up(it), levels = 0; at && more === own && levels < 8; at = up(at), levels++) more = at.textContent;
      const text = own.slice(0, 500) + '\n' + (more.length < 4000 ? more : '');
      return arm === 'strict' ? text : text.replace(/[0-9]+/g, '#');
    };
    const said = says();
    // Changes of the document until the page hears of the click.
    const seen = () => globalThis.commisStill?.changes ?? 0;
    let before = Infinity;
    const hear = event => {
      if (!event.isTrusted) return;
      if (event.type === 'click') before = seen();
      if (!judged) {
        judged = true;
        const by = hit(event.clientX, event.clientY);
        if (!by) over = 'the page';
        else if (!reaches(by)) over = called(by).over;
        else if (says() !== said) over = 'another row';
      }
      if (over !== null) { event.preventDefault(); event.stopImmediatePropagation(); }
    };
    const kinds = ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click', 'dblclick', 'auxclick'];
    for (const kind of kinds) view.addEventListener(kind, hear, { capture: true, passive: false });
    globalThis.commisAim = {
      said: () => ({ over: over?.toWellFormed() ?? null }),
      // The click changed something at once: what is on or off, where the element is one of the two, else the document.
      hasEffect: () => out.state ? state() !== out.state : seen() > before,
      end() {
        for (const kind of kinds) view.removeEventListener(kind, hear, { capture: true });
        if (globalThis.commisAim === this) delete globalThis.commisAim;
        return this.said();
      },
    };
  }
  return out;
}
