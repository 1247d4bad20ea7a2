// The document as it is drawn, as markup: shadow roots in their places, nothing that is not shown, of the attributes those
// that say something. Empty when it is longer than `most`.
function (most) {
  const body = document.body;
  const skipped = new Set(['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'LINK', 'META', 'IFRAME', 'OBJECT', 'CANVAS', 'VIDEO', 'AUDIO', 'TEXTAREA', 'OPTION']);
  const empty = new Set(['AREA', 'BR', 'COL', 'EMBED', 'HR', 'IMG', 'INPUT', 'SOURCE', 'TRACK', 'WBR']);
  const kept = new Set(['id', 'class', 'role', 'href', 'src', 'alt', 'datetime', 'itemprop', 'itemtype', 'itemscope', 'colspan', 'rowspan', 'aria-label', 'rel', 'disabled', 'aria-disabled']);
  const escape = it => it.replace(/[&<>"]/g, c => '&#' + c.charCodeAt(0) + ';');
  const out = [];
  let size = 0, whole = true;
  const put = it => { size += it.length; if (size > most) whole = false; else out.push(it); };
  const walk = (node, depth) => {
    if (!whole || depth > 400) return;
    if (node.nodeType === 3) { if (node.data) put(escape(node.data)); return; }
    if (node.nodeType !== 1 || skipped.has(node.nodeName)) return;
    if (node.localName === 'slot') {
      const assigned = node.assignedNodes();
      (assigned.length ? assigned : Array.from(node.childNodes)).forEach(it => walk(it, depth + 1));
      return;
    }
    if (node.namespaceURI !== 'http://www.w3.org/1999/xhtml') return;
    if (!node.checkVisibility() && getComputedStyle(node).display !== 'contents') return;
    // What is hidden in this way may hold what is not.
    const hidden = !node.checkVisibility({ visibilityProperty: true }) && getComputedStyle(node).visibility !== 'visible';
    const name = node.localName;
    let open = '<' + name;
    for (const it of node.attributes) if (kept.has(it.name) && it.value.length <= 400) open += ' ' + it.name + '="' + escape(it.value) + '"';
    put(open + '>');
    if (empty.has(node.nodeName)) return;
    for (const it of (node.shadowRoot || node).childNodes) if (!hidden || it.nodeType === 1) walk(it, depth + 1);
    put('</' + name + '>');
  };
  if (body) walk(body, 0);
  return whole ? out.join('').toWellFormed() : '';
}
