// Several requests in a row.
const _absent = Symbol();
function _look(found: Any, path: string): Any {
  for (const key of path ? path.split(".") : []) {
    if (Array.isArray(found)) found = /^\d+$/.test(key) && Number(key) < found.length ? found[Number(key)] : _absent;
    else found = typeof found === "object" && found !== null && Object.hasOwn(found, key) ? found[key] : _absent;
  }
  return found;
}
/** As a request has it; nothing for what is no text, number, true or false. */
function _plain(found: Any): string | undefined {
  if (typeof found === "string") return found;
  if (typeof found === "number" && Number.isInteger(found) && !Number.isSafeInteger(found)) {
    throw new Error("an answer holds a number that this language cannot hold");
  }
  return typeof found === "number" || typeof found === "boolean" ? String(found) : undefined;
}
/** The text of a field that a later request needs. */
function _value(found: Any, path: string): string {
  const words = _plain(_look(found, path));
  if (words === undefined) throw new Error("an answer no longer holds a value that the next request needs");
  return words;
}
const _same = (own: Any, wanted: Any): boolean => (typeof wanted === "string" ? _plain(own) === wanted : own === wanted);
const _spaced = (it: string): string => it.toLowerCase().split(/\s+/).filter((it) => it).join(" ");
function _alike(own: Any, wanted: Any): boolean {
  if (typeof wanted !== "string") return _same(own, wanted);
  const words = _plain(own);
  return words !== undefined && _spaced(words) === _spaced(wanted);
}
/** The item that is meant; an error where there is none, or more than one. */
function _choose(items: Any, which: "first" | "only" | { [path: string]: Any }): Any {
  if (!Array.isArray(items)) throw new Error("an answer has no list to choose from");
  let found: Any[] = items;
  if (which === "first") found = items.slice(0, 1);
  else if (which !== "only") {
    for (const fits of [_same, _alike]) {
      found = items.filter((it) => Object.entries(which).every(([path, wanted]) => fits(_look(it, path), wanted)));
      if (found.length > 0) break;
    }
  }
  if (found.length === 0) throw new Error("no item of the answer is the one that is meant");
  if (found.length > 1) throw new Error(`${found.length} items of the answer could be meant`);
  return found[0];
}
/** All items, for one request. */
function _listed(found: Any): Any[] {
  if (!Array.isArray(found)) throw new Error("an answer has no list");
  if (found.length > 100) throw new Error(`${found.length} items are too many for one request`);
  return found;
}
/** The texts of a field of all items, for one request. */
function _all(items: Any[], path: string, separator: string): string {
  const texts = items.map((it) => _value(it, path));
  if (texts.some((it) => it.includes(separator))) throw new Error("a text holds what stands between two of them");
  return texts.join(separator);
}
const _pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
/** The items that one request each is sent for; no site is asked more than ten times in a second. */
async function* _items(found: Any): AsyncGenerator<Any> {
  if (!Array.isArray(found)) throw new Error("an answer has no list");
  if (found.length > 100) throw new Error(`one request each for ${found.length} items are too many`);
  for (const [at, it] of found.entries()) {
    if (at > 0) await _pause(100);
    yield it;
  }
}
async function _unlessGone(ask: () => Promise<string>): Promise<string | null> {
  try {
    return await ask();
  } catch (err) {
    if ([404, 410].includes((err as Any)?.status)) return null;
    throw err;
  }
}
function _void(data: Any): boolean {
  if (Array.isArray(data)) return data.some((it) => it !== null) && data.every(_void);
  if (typeof data === "object" && data !== null) return Object.keys(data).length > 0 && Object.values(data).every(_void);
  return data === null || data === undefined;
}
/** Nothing, where the site has no answer for an item. */
const _filled = (data: Any, least = 0): Any => (_void(data) || (Array.isArray(data) ? data.length : 1) < least ? null : data);
const _isRecord = (it: Any): boolean => typeof it === "object" && it !== null && !Array.isArray(it);
function _join(out: Any[], item: Any, answer: Any, step: string, into: string | null, position: string | null, at: number): void {
  if (answer === null && position !== null) return;
  let joined: Any;
  if (_isRecord(item)) joined = { ...item };
  else if (into === null) {
    out.push(_isRecord(answer) && position !== null ? { ...answer, [position]: at } : answer);
    return;
  } else joined = { [step]: item };
  if (into !== null) joined[into] = answer;
  else if (_isRecord(answer)) Object.assign(joined, answer);
  if (position !== null) joined[position] = at;
  out.push(joined);
}
function _answered(items: number, answers: number, out: Any[]): Any[] {
  if (items > 0 && answers === 0) throw new Error("the site answered none of the items");
  return out;
}
