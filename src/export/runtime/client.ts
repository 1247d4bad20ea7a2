type Pair = [name: string, value: string | undefined, raw?: string];
type Key = [place: "header" | "query", name: string, value: string];
type Any = any;

const guards = [")]}',", ")]}'", ")]}", "for(;;);", "for (;;);", "while(1);", "while (1);", "&&&START&&&", "{}&&", "{} &&"];

/** The answer's text; an error where the site refuses. */
async function _ask(
  ask: typeof fetch, method: string, url: string, query: Pair[], headers: Record<string, string>,
  body: string | undefined, hosts: string[], key?: Key,
): Promise<string> {
  const pairs = [...query];
  const sent = { ...headers };
  if (key?.[0] === "query") pairs.push([key[1], key[2]]);
  if (key?.[0] === "header") sent[key[1]] = key[2];
  const text = _query(pairs);
  // A key is for its origin alone: where it is sent, no redirect is followed.
  const answer = await ask(text ? `${url}?${text}` : url, { method, headers: sent, body: body ?? null, redirect: key ? "error" : "follow" });
  if (answer.redirected && !hosts.includes(new URL(answer.url).hostname)) {
    throw new Error("the site led to a host that the recipe does not name");
  }
  if (!answer.ok) throw Object.assign(new Error(`the site answered ${answer.status}`), { status: answer.status });
  return _decoded(await answer.arrayBuffer(), answer.headers.get("content-type") ?? "");
}

function _decoded(data: ArrayBuffer, kind: string): string {
  const read = (charset: string) => new TextDecoder(charset).decode(data);
  const head = /html/.test(kind) ? new TextDecoder("latin1").decode(data.slice(0, 1024)) : "";
  const charset = /charset=["' ]*([\w-]+)/i.exec(kind) ?? /charset=["' ]*([\w-]+)/i.exec(head);
  try {
    return read(charset?.[1] ?? "utf-8");
  } catch {
    return read("utf-8");
  }
}

function _query(pairs: Pair[]): string {
  const out: string[] = [];
  for (const [name, value, raw = ""] of pairs) {
    if (value === undefined) continue;
    out.push(`${_encoded(name, raw.replaceAll("=", ""))}=${_encoded(value, raw)}`);
  }
  return out.join("&");
}

/** As a form has it, but for characters that are sent as they are. */
function _encoded(text: string, raw: string): string {
  return [...text].map((it) => {
    if (it === " ") return raw.includes(" ") ? "%20" : "+";
    return raw.includes(it) ? it : _quoted(it);
  }).join("");
}

function _quoted(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (it) => "%" + it.charCodeAt(0).toString(16).toUpperCase());
}

function _segment(text: string): string {
  if (["", ".", ".."].includes(text)) throw new Error("a value would make another path");
  return _quoted(text);
}

function _text(value: string | number | boolean): string {
  return String(value);
}

function _between(text: string, after: string, until: string): string {
  const start = text.indexOf(after);
  const end = start < 0 ? -1 : until ? text.indexOf(until, start + after.length) : text.length;
  if (end < 0) throw new Error("the answer no longer holds the value that the request needs");
  return text.slice(start + after.length, end);
}

function _json(given: string, framing?: string): Any {
  const text = given.replace(/^\ufeff/, "").trim();
  if (framing === "lines") {
    const lines = text.split(/\r?\n/).map((it) => it.replace(/^\x1e+/, "").trim());
    return lines.filter((it) => it).map((it) => JSON.parse(it));
  }
  if (framing === "jsonp") return JSON.parse(text.slice(text.indexOf("(") + 1, text.lastIndexOf(")")));
  const guard = guards.find((it) => text.startsWith(it));
  return JSON.parse(guard ? text.slice(guard.length) : text);
}

function _found<T>(data: Any): T {
  if (data === null || data === undefined) throw new Error("the answer does not hold the data; the site may have changed");
  return data as T;
}
