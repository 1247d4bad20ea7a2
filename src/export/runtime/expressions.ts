// What JMESPath does, for the expressions above.
const _isObject = (it: Any): boolean => typeof it === "object" && it !== null && !Array.isArray(it);
const _field = (it: Any, key: string): Any => (_isObject(it) && Object.hasOwn(it, key) ? it[key] : null) ?? null;
const _index = (it: Any, at: number): Any => (Array.isArray(it) ? it.at(at) : null) ?? null;
const _with = (it: Any, make: (it: Any) => Any): Any => make(it);
const _each = (it: Any, make: (it: Any) => Any): Any =>
  Array.isArray(it) ? it.map(make).filter((one: Any) => one !== null) : null;
const _flat = (it: Any): Any => (Array.isArray(it) ? it.flat() : null);
const _slice = (it: Any, start?: number, stop?: number): Any => (Array.isArray(it) ? it.slice(start, stop) : null);
const _keys = (it: Any): Any => (_isObject(it) ? Object.keys(it).sort() : null);
const _values = (it: Any): Any => (_isObject(it) ? _keys(it).map((key: string) => it[key]) : null);
const _length = (it: Any): Any => (_isObject(it) ? Object.keys(it).length : typeof it === "string" ? [...it].length : it.length);
const _truthy = (it: Any): boolean =>
  !(it === null || it === false || it === "" || (Array.isArray(it) && it.length === 0) || (_isObject(it) && Object.keys(it).length === 0));
const _compare = (a: Any, b: Any, make: (a: number, b: number) => boolean): Any =>
  typeof a === "number" && typeof b === "number" ? make(a, b) : null;
