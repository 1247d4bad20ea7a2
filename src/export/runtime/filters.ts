const _slug = (text: string): string => text.split(/[^\p{Alphabetic}\p{N}]+/u).filter((it) => it).join("-").toLowerCase();
const _lower = (text: string): string => text.toLowerCase();
const _upper = (text: string): string => text.toUpperCase();
function _title(text: string): string {
  let out = "";
  let within = false;
  for (const it of text) {
    out += /\p{Alphabetic}/u.test(it) && !within ? it.toUpperCase() : it;
    within = /[\p{Alphabetic}\p{N}'\u2019]/u.test(it);
  }
  return out;
}
const _capital = (text: string): string => {
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("");
};
const _words = (text: string): string[] => text.split(/\s+/).filter((it) => it);
const _trim = (text: string): string => _words(text).join(" ");
const _hyphen = (text: string): string => _words(text).join("-");
const _underscore = (text: string): string => _words(text).join("_");
const _plus = (text: string): string => _words(text).join("+");
const _compact = (text: string): string => _words(text).join("");
const _nfc = (text: string): string => text.normalize("NFC");
const _nfd = (text: string): string => text.normalize("NFD");
const _unaccent = (text: string): string => {
  const plain = "ss ae AE oe OE o O l L d D d D th TH i".split(" ");
  const letters = new Map([..."ßæÆœŒøØłŁđĐðÐþÞı"].map((it, at) => [it, plain[at]]));
  return [..._nfd(text).replace(/[\u0300-\u036f]/g, "")].map((it) => letters.get(it) ?? it).join("");
};
function _dated(text: string, write: (y: string, m: number, d: number) => string): string {
  const bare = text.trim();
  let tries: string[][] = [];
  let it: RegExpExecArray | null;
  if ((it = /^(\d{4})(\d\d)(\d\d)$/.exec(bare)) || (it = /^(\d{4})-(\d{1,2})-(\d{1,2})$/.exec(bare))) {
    tries = [[it[1]!, it[2]!, it[3]!]];
  } else if ((it = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/.exec(bare))) {
    const [, first, sign, second, year] = it as unknown as string[];
    tries = sign === "/" ? [[year!, first!, second!], [year!, second!, first!]] : [[year!, second!, first!]];
  }
  for (const [year, month, day] of tries) {
    const [y, m, d] = [Number(year), Number(month), Number(day)];
    const date = new Date(0);
    date.setUTCFullYear(y, m - 1, d);
    if (date.getUTCMonth() === m - 1 && date.getUTCDate() === d) return write(year!, m, d);
  }
  return text;
}
const _two = (it: number): string => String(it).padStart(2, "0");
const _date_iso = (text: string): string => _dated(text, (y, m, d) => `${y}-${_two(m)}-${_two(d)}`);
const _date_dmy = (text: string): string => _dated(text, (y, m, d) => `${_two(d)}.${_two(m)}.${y}`);
const _date_dmy_short = (text: string): string => _dated(text, (y, m, d) => `${d}.${m}.${y}`);
const _date_dmy_slash = (text: string): string => _dated(text, (y, m, d) => `${_two(d)}/${_two(m)}/${y}`);
const _date_mdy = (text: string): string => _dated(text, (y, m, d) => `${_two(m)}/${_two(d)}/${y}`);
const _date_mdy_short = (text: string): string => _dated(text, (y, m, d) => `${m}/${d}/${y}`);
const _date_ymd = (text: string): string => _dated(text, (y, m, d) => `${y}${_two(m)}${_two(d)}`);
const _epoch_ms = (text: string): string => _dated(text, (y, m, d) => String(Date.parse(`${y}-${_two(m)}-${_two(d)}T00:00:00Z`)));
const _epoch_s = (text: string): string => _dated(text, (y, m, d) => String(Date.parse(`${y}-${_two(m)}-${_two(d)}T00:00:00Z`) / 1000));
const _digits = (text: string): [string, string] | undefined => {
  const it = /^(-?\d{1,15})(?:\.(\d{0,9}))?$/.exec(text);
  return it ? [it[1]!, it[2] ?? ""] : undefined;
};
const _decimals = (text: string, places: number): string => {
  const it = _digits(text);
  return it && it[1].length < places ? `${it[0]}.${it[1].padEnd(places, "0")}` : text;
};
const _decimal1 = (text: string): string => _decimals(text, 1);
const _decimal2 = (text: string): string => _decimals(text, 2);
const _ungroup = (text: string): string => {
  const bare = text.replace(/[,' \u00a0\u202f\u2019]/g, "");
  return _digits(bare) ? bare : text;
};
const _point = (text: string): string => {
  const bare = text.replaceAll(".", "").replaceAll(",", ".");
  return text.includes(",") && _digits(bare) ? bare : text;
};
const _minor = (text: string): string => {
  const it = _digits(text);
  if (!it || it[1].length > 2) return text;
  const digits = it[0] + it[1].padEnd(2, "0");
  return (digits.startsWith("-") ? "-" : "") + (digits.replace("-", "").replace(/^0+/, "") || "0");
};
const _major = (text: string): string => {
  const it = _digits(text);
  if (!it || it[1]) return text;
  const digits = it[0].replace("-", "").padStart(3, "0");
  return `${it[0].startsWith("-") ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
};
const _word1 = (text: string): string => _words(text)[0] ?? "";
const _word2 = (text: string): string => _words(text)[1] ?? "";
const _word3 = (text: string): string => _words(text)[2] ?? "";
const _word4 = (text: string): string => _words(text)[3] ?? "";
const _base64 = (text: string): string => btoa(String.fromCharCode(...new TextEncoder().encode(text)));
const _base64url = (text: string): string => _base64(text).replace(/=+$/, "").replace(/\+/g, "-").replace(/\//g, "_");
const _hex = (text: string): string => [...new TextEncoder().encode(text)].map((it) => it.toString(16).padStart(2, "0")).join("");
const _number = (text: string): string => text.trim();
const _inside_json = (text: string): string => JSON.stringify(text).slice(1, -1);
const _url = (text: string): string => _quoted(text);
