const _SPACE = /[\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/gu;
const _UNREAD = new Set(["script", "style", "noscript", "template", "svg", "head", "option", "datalist", "textarea"]);
const _INLINE = new Set([
  "abbr", "b", "bdi", "br", "cite", "code", "del", "em", "font", "i", "ins", "kbd", "mark", "q",
  "s", "small", "strong", "sub", "sup", "tt", "u", "var", "wbr",
]);
const _PHRASES = new Set(["a", "span", "label", "time"]);
const _HEADINGS = new Set(["h1", "h2", "h3", "h4", "h5", "h6", "legend", "caption"]);
const _SORTED = "▲▼△▽▴▾▵▿⏶⏷⮝⮟↑↓↕⇅⇵⬆⬇🔼🔽\ufe0e\ufe0f";
const _MARKS = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~«»‹›…–—·•←→";
const _WORD = /[\p{Alphabetic}\p{N}]/u;

/** A field: its name, the title or the number of its column, its selector, which element that matches, its attribute. */
type _Field = [name: string, place: string | number | null, css: string | null, nth: number | null, attribute: string | null];
type _Kind = { number?: _Shape; money?: _Shape; date?: string };
type _Shape = { decimal?: string; unit?: boolean };
type _Spec = {
  items: string; fields: _Field[]; run?: boolean; single?: boolean; group?: string; least?: number; types?: Record<string, _Kind>;
};

function _page(text: string): cheerio.CheerioAPI {
  const page = cheerio.load(text);
  // Browsers that run scripts do not draw it.
  page("noscript").remove();
  return page;
}

/** JSON that a script of the page is. */
function _script(text: string, css: string): Any {
  const page = _page(text);
  const found: Any = page(css).get(0);
  if (!found) throw new Error("the page no longer holds the data; the site may have changed");
  return _json(_texts(found).join(""));
}

/** The items of a page, as the recipe's selectors read them. Without any it is an error: nobody knows whether there are none. */
function _items_of(text: string, spec: _Spec): Any {
  const page = _page(text);
  const all: Any[] = page("*").toArray();
  const order = new Map<Any, number>(all.map((it, at) => [it, at]));
  const headings: Any[] = spec.group ? page(spec.group).toArray() : [];
  const grids = new Map<Any, _Grid>();
  const out: Any[] = [];
  let last: Any = null;
  let group: Any = null;
  for (const first of page(spec.items).toArray() as Any[]) {
    if (last && _ancestors(first).slice(0, 32).includes(last)) continue;
    last = first;
    if (_is_hidden(first)) continue;
    while (headings.length && order.get(headings[0])! < order.get(first)!) group = headings.shift();
    const parts = spec.run ? _run(page, first, spec.items) : [first];
    let grid: _Grid | undefined;
    const table = spec.fields.some((it) => it[1] !== null) && _ancestors(first).find((it) => it.name === "table");
    if (table) {
      grid = grids.get(table) ?? new _Grid(table);
      grids.set(table, grid);
    }
    if (grid && _children(first).length && grid.at.has(first) && !grid.isRow(first)) continue;
    const item: Any = {};
    for (const [name, ...of] of spec.fields) item[name] = _field_of(page, parts, spec.run ?? false, grid, ...of);
    if (Object.values(item).every((it) => it === null || it === "") || parts.every(_is_mark)) continue;
    for (const [name, kind] of Object.entries(spec.types ?? {})) Object.assign(item, _typed(name, kind, item[name]));
    if (spec.group) item.group = group ? _read(group) : null;
    out.push(item);
  }
  if (out.length < (spec.least ?? 1)) {
    throw new Error("the page lists no items; the site may have none for these values, or it changed");
  }
  return spec.single ? out[0] ?? null : out;
}

function _run(page: cheerio.CheerioAPI, first: Any, css: string): Any[] {
  const parts = [first];
  for (let it = first.next; it; it = it.next) {
    if (!_is_tag(it)) continue;
    const ends = page(it).is(css) || (_HEADINGS.has(it.name) && !_HEADINGS.has(first.name));
    if (ends || parts.length >= 64) break;
    parts.push(it);
  }
  return parts;
}

function _field_of(
  page: cheerio.CheerioAPI, parts: Any[], run: boolean, grid: _Grid | undefined,
  place: string | number | null, css: string | null, nth: number | null, attribute: string | null,
): Any {
  let found: Any[] = [];
  if (place === null) {
    found = _found_in(page, parts, run, css, nth);
  } else if (grid) {
    const cell = grid.cell(parts[0], typeof place === "string" ? grid.column(place) : place);
    if (cell) found = _found_in(page, [cell], false, css, nth);
  }
  const values = found.map((it) => attribute === null ? _read(it) : it.attribs[attribute]?.trim() ?? null);
  if (nth !== null) return values[0] ?? null;
  const some = values.filter((it) => it);
  return some.length ? some : null;
}

function _found_in(page: cheerio.CheerioAPI, parts: Any[], run: boolean, css: string | null, nth: number | null): Any[] {
  if (css === null) return parts.slice(0, 1);
  const own = parts.flatMap((it) => [...(run && page(it).is(css) ? [it] : []), ...(page(it).find(css).toArray() as Any[])]);
  return nth === null ? own : own.slice(nth - 1, nth);
}

function _is_tag(node: Any): boolean {
  return node.type === "tag" || node.type === "script" || node.type === "style";
}

function _ancestors(node: Any): Any[] {
  const out: Any[] = [];
  for (let it = node.parent; it; it = it.parent) out.push(it);
  return out;
}

function _texts(node: Any): string[] {
  return node.children.flatMap((it: Any) => it.type === "text" ? [it.data] : it.children ? _texts(it) : []);
}

function _descendants(node: Any): Any[] {
  return node.children.filter(_is_tag).flatMap((it: Any) => [it, ..._descendants(it)]);
}

function _children(node: Any): Any[] {
  return node.children.filter((it: Any) => _is_tag(it) && _is_read(it));
}

function _is_read(it: Any): boolean {
  return (!_UNREAD.has(it.name) || "shadowrootmode" in it.attribs) && !_is_hidden(it);
}

function _is_hidden(it: Any): boolean {
  const style = (it.attribs.style ?? "").replace(_SPACE, "").toLowerCase();
  if ("hidden" in it.attribs || style.includes("display:none")) return true;
  return it.attribs["aria-hidden"] === "true" && !_is_drawn(it);
}

/** A short text kept from screen readers that nothing beside it says as well. */
function _is_drawn(element: Any): boolean {
  const below = _descendants(element);
  const plain = below.slice(0, 8).every((it) => _INLINE.has(it.name) || ["span", "time", "data"].includes(it.name));
  const acts = "role" in element.attribs || ["a", "button", "li", "tr", "td"].includes(element.name);
  if (acts || !plain || below.length > 8) return false;
  const own = _texts(element).join("");
  const [letters, digits] = [_letters(own), _numerals(own)];
  const icon = /^[a-z][a-z0-9_-]*$/.test(own.trim());
  if ([...own].length > 80 || icon || (!digits && new TextEncoder().encode(letters).length < 3)) return false;
  const says = (it: string) => digits ? _numerals(it).includes(digits) : _letters(it).includes(letters);
  const labels = (it: Any) => ["aria-label", "title"].some((name) => it.attribs[name] !== undefined && says(it.attribs[name]));
  if (!element.parent || (_is_tag(element.parent) && labels(element.parent))) return false;
  const near: Any[] = [];
  for (let it = element.prev, n = 0; it && n < 8; it = it.prev, n++) near.push(it);
  for (let it = element.next, n = 0; it && n < 8; it = it.next, n++) near.push(it);
  return !near.some((it) => {
    if (it.type === "text") return says(it.data);
    return _is_tag(it) && (says([..._texts(it).join("")].slice(0, 320).join("")) || labels(it));
  });
}

function _letters(text: string): string {
  return [...text].filter((it) => _WORD.test(it)).join("").toLowerCase();
}

function _numerals(text: string): string {
  return [...text].filter((it) => /\p{N}/u.test(it)).join("");
}

/** The text as a reader sees it. */
function _read(element: Any): string {
  return _drawn(element).split(_SPACE).filter((it) => it).join(" ");
}

function _drawn(element: Any): string {
  let out = "";
  let before: Any = null;
  for (const it of element.children) {
    if (it.type === "text") {
      out += it.data;
      before = null;
    } else if (_is_tag(it) && _is_read(it)) {
      const apart = !_INLINE.has(it.name) && !_PHRASES.has(it.name);
      if (apart || it.name === "br") out += " ";
      const own = _drawn(it);
      if (before && out && own && _are_words(before, [...out].at(-1)!, it, [...own][0]!)) out += " ";
      out += own + (apart ? " " : "");
      before = apart || ["br", "wbr"].includes(it.name) ? null : it;
    }
  }
  return out;
}

function _are_words(before: Any, last: string, after: Any, first: string): boolean {
  if (_PHRASES.has(before.name) && _PHRASES.has(after.name)) return _WORD.test(last) && _WORD.test(first);
  const alike = before.name === after.name && _classes(before).join(" ") === _classes(after).join(" ");
  const attached = [before, after].some((it) => ["sub", "sup"].includes(it.name));
  return /\p{N}/u.test(last) && /\p{N}/u.test(first) && !alike && !attached;
}

function _classes(element: Any): string[] {
  return (element.attribs.class ?? "").split(/[\t\n\f\r ]+/).filter((it: string) => it);
}

function _chars(element: Any): number {
  return _drawn(element).replace(_SPACE, "").length;
}

function _is_mark(element: Any): boolean {
  const said = [..._texts(element).join("").replace(_SPACE, "")];
  return said.length > 0 && said.every((it) => _MARKS.includes(it));
}

type _Cell = Any | null;
type _Row = { row: Any; kind: "head" | "data" | "foot"; cells: _Cell[] };

/** A table as rows and columns: spans resolved, header cells and totals told from data. */
class _Grid {
  rows: _Row[] = [];
  at = new Map<Any, number>();
  columns: number;
  titles: string[];
  isFull: boolean;

  constructor(table: Any) {
    const open: ([Any, number] | undefined)[] = [];
    let seen = false;
    for (let { row, kind } of this.lines(table)) {
      const own = _cells(row);
      const cells = this.spread(own, open);
      const heads = own.every((it) => it.name === "th") || own.every((it) => it.attribs.role === "columnheader");
      if (kind === "data" && !seen && own.length > 1 && heads) kind = "head";
      seen ||= kind === "data" && cells.some((it) => it?.name === "td");
      this.at.set(row, this.rows.length);
      this.rows.push({ row, kind, cells });
    }
    this.columns = Math.max(0, ...this.rows.map((it) => it.cells.length));
    this.titles = Array.from({ length: this.columns }, (_, at) => this.title(at));
    this.markTotals();
    const data = this.rows.filter((it) => it.kind === "data");
    const says = (it: _Row) => it.cells.filter((cell) => cell && _chars(cell) > 0).length;
    this.isFull = data.filter((it) => says(it) > 1).length * 2 > data.length;
  }

  private lines(table: Any): { row: Any; kind: _Row["kind"] }[] {
    const kinds: Record<string, _Row["kind"]> = { thead: "head", tfoot: "foot", tbody: "data" };
    return _children(table).flatMap((child) => {
      if (child.name === "tr") return [{ row: child, kind: "data" as const }];
      const kind = kinds[child.name];
      return kind ? _children(child).filter((it) => it.name === "tr").map((row) => ({ row, kind })) : [];
    });
  }

  private spread(given: Any[], open: ([Any, number] | undefined)[]): _Cell[] {
    const own = [...given];
    const out: _Cell[] = [];
    for (let column = 0; column < 128;) {
      const reaching = open[column];
      if (reaching) {
        out.push(reaching[0]);
        open[column] = reaching[1] > 1 ? [reaching[0], reaching[1] - 1] : undefined;
        column += 1;
      } else if (own.length) {
        const cell = own.shift();
        const [wide, tall] = [_span(cell, "colspan", 128), _span(cell, "rowspan", 1000)];
        for (let at = column; at < Math.min(column + wide, 128); at++) {
          out.push(cell);
          open[at] = tall > 1 ? [cell, tall - 1] : undefined;
        }
        column += wide;
      } else if (open.slice(column).some((it) => it)) {
        out.push(null);
        column += 1;
      } else break;
    }
    return out;
  }

  private title(column: number): string {
    const out: string[] = [];
    let last: _Cell = null;
    for (const { kind, cells } of this.rows) {
      const cell = kind === "head" ? cells[column] : null;
      if (!cell || cell === last) continue;
      last = cell;
      const own = _bare(_read(cell));
      const spans = /^\+?[0-9]+$/.test(cell.attribs.colspan ?? "") ? Number(cell.attribs.colspan) : 1;
      if (own && !(this.columns > 1 && spans >= this.columns)) out.push(own);
    }
    return out.join(" ");
  }

  column(title: string): number | undefined {
    const lower = (it: string) => it.replace(/[A-Z]/g, (c) => c.toLowerCase());
    const at = this.titles.findIndex((it) => lower(it) === lower(_bare(title)));
    return at < 0 ? undefined : at;
  }

  cell(row: Any, column: number | undefined): _Cell {
    const at = this.at.get(row);
    return at === undefined || column === undefined ? null : this.rows[at]!.cells[column] ?? null;
  }

  isRow(row: Any): boolean {
    const at = this.at.get(row);
    if (at === undefined) return false;
    const { kind, cells } = this.rows[at]!;
    const own = cells.filter((it) => it);
    const head = own.length > 1 && own.every((it) => it.name === "th") && this.titles.some((it) => it);
    return kind === "data" && !head && !this.namesOthers(cells) && _chars(row) > 0;
  }

  private namesOthers(cells: _Cell[]): boolean {
    const first = cells[0];
    if (!first || this.columns < 2) return false;
    const others = cells.filter((it) => it && it !== first);
    if (!others.length) return cells.length === this.columns || this.isFull;
    const alone = _chars(first) > 0 && others.every((it) => _chars(it) === 0);
    return this.isFull && alone && (first.name === "th" || _bold(first, ["b", "strong", "h2", "h3", "h4", "h5", "h6"]));
  }

  private markTotals(): void {
    const data = this.rows.filter((it) => it.kind === "data" && _children(it.row).length > 1);
    const known = new Set<string>();
    let above: _Row[] = [];
    const all: _Row[] = [];
    let tried = 0;
    data.forEach((row, at) => {
      const spans = _cells(row.row).length < this.columns;
      const isNew = _classes(row.row).some((it) => !known.has(it));
      const mayBe = (spans || isNew || at + 1 === data.length) && tried < 64;
      tried += Number(mayBe);
      const signs = () => Number(spans) + Number(isNew) + this.signs(row, all, spans);
      if (mayBe && signs() >= 2 && (_is_sum(row, above) || _is_sum(row, all))) {
        row.kind = "foot";
        above = [];
      } else {
        _classes(row.row).forEach((it) => known.add(it));
        above.push(row);
        all.push(row);
      }
    });
  }

  private signs(row: _Row, data: _Row[], spans: boolean): number {
    const isEmpty = (it: _Row, at: number) => at < it.cells.length && (!it.cells[at] || _chars(it.cells[at]) === 0);
    const bold = (it: _Row) => _cells(it.row).some((cell) => _bold(cell, ["b", "strong"]) && _thousandths(_read(cell)) !== null);
    const lacks = !spans && row.cells.some((_, at) => isEmpty(row, at) && data.every((it) => !isEmpty(it, at)));
    return Number(lacks) + Number(bold(row) && !data.some(bold));
  }
}

function _cells(row: Any): Any[] {
  return _children(row).filter((it) => it.name === "td" || it.name === "th");
}

function _span(cell: Any, name: string, most: number): number {
  const text = (cell.attribs[name] ?? "").trim();
  return /^\+?[0-9]{1,9}$/.test(text) ? Math.min(Math.max(Number(text), 1), most) : 1;
}

function _bare(title: string): string {
  const marks = [...title].map((it) => /\s/u.test(it) || _SORTED.includes(it));
  const from = marks.indexOf(false);
  return from < 0 ? "" : [...title].slice(from, marks.lastIndexOf(false) + 1).join("");
}

function _bold(cell: Any, names: string[]): boolean {
  return _descendants(cell).some((it) => names.includes(it.name) && _chars(it) === _chars(cell));
}

function _is_sum(row: _Row, above: _Row[]): boolean {
  const seen = new Set<Any>();
  let [labels, sums] = [0, 0];
  const value = (it: _Row, at: number) => it.cells[at] ? _thousandths(_read(it.cells[at])) : null;
  for (const [at, cell] of row.cells.entries()) {
    if (!cell || _chars(cell) === 0) continue;
    const total = _thousandths(_read(cell));
    if (total === null) {
      labels += Number(!seen.has(cell));
      seen.add(cell);
      continue;
    }
    const parts = above.map((it) => value(it, at));
    if (parts.includes(null) || parts.reduce((sum: number, it) => sum + it!, 0) !== total) return false;
    sums += Number(total !== 0);
  }
  return above.length > 0 && labels <= 1 && sums > 0;
}

/** A number with its unit, times 1,000. */
function _thousandths(text: string): number | null {
  const found = /[0-9](?:[\s\S]*[0-9])?/.exec(text);
  if (!found) return null;
  const digits = found[0];
  const [front, rest] = [text.slice(0, found.index), text.slice(found.index + digits.length)];
  const letters = [...front + rest].filter((it) => _WORD.test(it)).length;
  if (letters > 4 || new TextEncoder().encode(digits).length > 20 || !/^[0-9.,'’\s]*$/u.test(digits)) return null;
  let at = Math.max(digits.lastIndexOf("."), digits.lastIndexOf(","));
  const after = digits.length - at - 1;
  const mark = digits[at] ?? "";
  const decimal = at >= 0 && (after < 3 || (after === 3 && digits.split(mark).length === 2 && digits.includes(mark === "." ? "," : ".")));
  if (!decimal) at = digits.length;
  const [whole, part] = [digits.slice(0, at).replace(/\D/g, ""), digits.slice(at).replace(/\D/g, "")];
  const value = Number(whole || "0") * 1000 + Number(part.padEnd(3, "0"));
  return /[-−]$/u.test(front) ? -value : value;
}

/** What a text is beside itself: a number with its unit, an amount with its currency, a date. */
function _typed(name: string, kind: _Kind, given: Any): Record<string, Any> {
  const text = typeof given === "string" ? given.trim() : "";
  if (kind.date !== undefined) return { [`${name}_date`]: _date(kind.date, text) };
  const how = kind.money ?? kind.number ?? {};
  const [number, beside] = _amount(kind.money !== undefined, how, text);
  if (kind.money) return { [`${name}_amount`]: number, [`${name}_currency`]: beside };
  return how.unit ? { [`${name}_number`]: number, [`${name}_unit`]: beside } : { [`${name}_number`]: number };
}

function _amount(money: boolean, how: _Shape, text: string): [number | null, string | null] {
  const found = /[0-9](?:[\s\S]*[0-9])?/.exec(text);
  if (!found || new TextEncoder().encode(text).length > 60 || /[^0-9.,'’ \xa0\u202f]/u.test(found[0])) return [null, null];
  const front = text.slice(0, found.index).trim();
  const after = text.slice(found.index + found[0].length).trim();
  const minus = (front.match(/[-−]/gu) ?? []).length;
  const unsigned = front.replace(/^[-−]+|[-−]+$/gu, "").trim();
  if (minus > 1 || /[-−]/u.test(unsigned)) return [null, null];
  const before = unsigned.replace(/^\++/, "").trim();
  let beside = after;
  let fits = !before && new TextEncoder().encode(after).length <= 12 && /^[\p{Alphabetic}%‰°/²³µ]*$/u.test(after)
    && (after !== "") === (how.unit ?? false);
  if (money) {
    beside = before && after ? "" : before || after;
    fits = /^(?:[A-Z]{3}|\p{Alphabetic}{0,3}[$¢-¥₠-⃏]\p{Alphabetic}{0,3})$/u.test(beside);
  }
  const number = fits ? _plain_number(found[0], how.decimal, minus > 0) : null;
  return [number, number === null ? null : beside];
}

function _plain_number(digits: string, decimal: string | undefined, minus: boolean): number | null {
  const sign = decimal === "point" ? "." : decimal === "comma" ? "," : undefined;
  const at = sign ? digits.lastIndexOf(sign) : -1;
  const [whole, fraction] = at < 0 ? [digits, ""] : [digits.slice(0, at), digits.slice(at + 1)];
  const separator = /[.,'’ \xa0\u202f]/gu;
  const groups = whole.split(separator);
  const signs = new Set(whole.match(separator) ?? []);
  const middle = new Set(groups.slice(1, -1).map((it) => it.length));
  const [first, last] = [groups[0]!, groups.at(-1)!];
  const grouped = groups.length === 1 || (sign !== undefined && signs.size === 1 && !signs.has(sign) && last.length === 3
    && first.length >= 1 && first.length <= 3 && (middle.size === 0 || (middle.size === 1 && (middle.has(3) || middle.has(2)))));
  const text = groups.join("");
  if (!grouped || (text !== "0" && first.startsWith("0")) || /[^0-9]/.test(fraction) || text.length + fraction.length > 15) return null;
  const value = Number(fraction ? `${text}.${fraction}` : text);
  return minus ? -value : value;
}

const _MONTHS = [
  "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
];

function _date(pattern: string, text: string): string | null {
  const names: string[] = [];
  const parts: Record<string, string> = {
    Y: "(\\d{4})", m: "(\\d{1,2})", d: "(\\d{1,2})", H: "(\\d{1,2})", M: "(\\d{1,2})", S: "(\\d{1,2})", B: "([A-Za-z]+)",
  };
  const expression = pattern.replace(/%(.)|[.*+?^${}()|[\]\\]/g, (all, of) => {
    if (of === undefined) return `\\${all}`;
    names.push(of);
    return parts[of] ?? "(?!)";
  });
  const found = new RegExp(`^${expression}$`).exec(text);
  if (!found) return null;
  const of = (name: string) => found[names.indexOf(name) + 1] ?? "0";
  const named = of("B").toLowerCase();
  const month = names.includes("B") ? _MONTHS.findIndex((it) => it === named || it.slice(0, 3) === named) + 1 : Number(of("m"));
  const [year, day] = [Number(of("Y")), Number(of("d"))];
  const [hour, minute, second] = ["H", "M", "S"].map((it) => names.includes(it) ? Number(of(it)) : 0) as [number, number, number];
  const real = new Date(Date.UTC(2000, month - 1, day));
  real.setUTCFullYear(year, month - 1, day);
  if (real.getUTCMonth() !== month - 1 || real.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59) return null;
  if (year < 1000 || year >= 3000) return null;
  const two = (it: number) => String(it).padStart(2, "0");
  const date = `${year}-${two(month)}-${two(day)}`;
  return names.includes("H") ? `${date}T${two(hour)}:${two(minute)}:${two(second)}` : date;
}
