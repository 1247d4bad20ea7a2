// Refusals: every operation asked in every wrong way, and daemons that allow next to nothing.

import assert from "node:assert/strict";
import fs from "node:fs";
import { APART, type Drive, refused, sleep, well } from "./contract.js";
import type { Operation } from "./held.js";

/// Values for what stands in a path.
const PATH: Record<string, string> = { name: "site", task_id: "t-none", candidate: "1", id: "tok-none" };

const filled = (it: Operation) => it.path.replace(/\{([^}]+)\}/g, (_, name: string) => PATH[name] ?? "x");

/// What each operation wants of a token, as the reference tells people.
function needs(): Map<string, string> {
  const text = fs.readFileSync(`${process.env.ROOT}/docs/reference/operations.md`, "utf8");
  const rows = text.matchAll(/^\| \[(\w+)\]\(#\w+\) \|[^|]+\|[^|]+\| `?([^|`]+?)`? \|/gm);
  return new Map([...rows].map((it) => [it[1] ?? "", it[2] ?? ""]));
}

/// Each operation in each way that nothing is answered in.
export async function matrix({ as, held, place }: Drive): Promise<void> {
  const need = needs();
  assert.equal(need.size, held.operations.length - 3, "the reference and the document have other operations");
  const { token } = well(await as().POST("/api/tokens", { body: { can: ["run:another"], note: "may next to nothing" } }));
  const { base } = place;
  const json = { "Content-Type": "application/json" };
  const host = { Host: new URL(base).host };
  const root = { ...host, Authorization: `Bearer ${place.token}` };
  const large = JSON.stringify({ params: { q: "x".repeat(300 * 1024) } });

  for (const [index, it] of held.operations.entries()) {
    // Whoever has no token is refused 60 times at once and five times a second from then on: 4 keep below it on any machine.
    if (index >= 40) await sleep(250);
    const [verb, path] = [it.verb.toUpperCase(), filled(it)];
    const is = async (what: string, status: number, code: string, headers: Record<string, string>, at = path, body?: string) => {
      const answer = await held.raw(base, verb, at, headers, body);
      let seen: string;
      try {
        seen = JSON.parse(answer.text).error?.error_code;
      } catch {
        seen = answer.text;
      }
      held.figures.checks += 1;
      if (answer.status !== status || seen !== code) held.fault(`${verb} ${it.path}, ${what}: ${answer.status} ${seen}, and not ${status} ${code}`);
    };
    await is("no token", 401, "UNAUTHORIZED", host);
    await is("the address of another", 403, "FORBIDDEN", { ...root, Host: "elsewhere.test" });
    await is("from another page", 403, "FORBIDDEN", { ...root, Origin: "http://elsewhere.test" });
    await is("an address that is none", 400, "USAGE", { ...root, Host: "a b" });
    const wanted = need.get(it.id) ?? (["events", "har_upload"].includes(it.id) ? "root" : "tasks:read");
    if (wanted !== "any") await is(`${wanted} is needed`, 403, "FORBIDDEN", { ...host, Authorization: `Bearer ${token}` });
    if (path !== it.path) await is("no text in the path", 400, "PARAM_INVALID", root, it.path.replace(/\{[^}]+\}/, "%FF").replace(/\{[^}]+\}/g, "1"));
    // Its body is a file, larger than any other.
    if (it.id === "har_upload") {
      await is("no HAR", 422, "HAR_INVALID", { ...root, ...json }, path, '{"a": ');
    } else if (it.verb === "post") {
      await is("a body of another kind", 415, "USAGE", { ...root, "Content-Type": "text/plain" }, path, "{}");
      await is("too large a body", 413, "BODY_TOO_LARGE", { ...root, ...json }, path, large);
      await is("half a body", 400, "PARAM_INVALID", { ...root, ...json }, path, '{"a": ');
      await is("a list", 400, "PARAM_INVALID", { ...root, ...json }, path, "[]");
      await is("an argument that is not known", 400, "PARAM_INVALID", { ...root, ...json }, path, '{"other": 1}');
      await is("arguments in the query", 400, "PARAM_INVALID", { ...root, ...json }, `${path}?other=1`, "{}");
    } else if (it.id !== "events" && it.id !== "task_events") {
      await is("a body", 400, "PARAM_INVALID", { ...root, ...json }, path, "{}");
      await is("an argument that is not known", 400, "PARAM_INVALID", root, `${path}?other=1`);
    }
    const patched = await held.raw(base, "PATCH", path, root);
    assert.equal(patched.status, 405, it.path);
    assert.ok(patched.headers.get("allow")?.split(", ").includes(verb), `${it.path} allows ${patched.headers.get("allow")}`);
  }
  const nothing = await held.raw(base, "GET", "/api/nothing", root);
  assert.deepEqual([nothing.status, JSON.parse(nothing.text).error.error_code], [404, "NO_SUCH_ADDRESS"]);
  refused(await as("cms_0").GET("/api/version"), 401, "UNAUTHORIZED");
}

/// A body that does not come: after twenty seconds it is not waited for any more.
export async function slowly({ held, place }: Drive): Promise<void> {
  const headers = { Host: new URL(place.base).host, Authorization: `Bearer ${place.token}`, "Content-Type": "application/json", "Content-Length": "10" };
  const posts = held.operations.filter((it) => it.verb === "post");
  const answers = await Promise.all(posts.map((it) => held.raw(place.base, "POST", filled(it), headers, "{")));
  for (const it of answers) assert.deepEqual([it.status, JSON.parse(it.text).error.error_code], [408, "TIMEOUT"]);
}

/// A daemon that allows next to nothing says so, and when to ask again.
export async function tight({ as, held, place }: Drive): Promise<void> {
  const api = () => as();
  const late = (it: { response: Response }, seconds: number | null | undefined) => {
    assert.equal(it.response.headers.get("retry-after"), String(seconds));
    assert.ok((seconds ?? 0) >= 1 && (seconds ?? 0) <= 61);
  };
  place.start("rest_per_minute = 1\nrest_burst = 2\nrun_per_minute = 1\nrun_burst = 1\n");
  well(await api().GET("/api/version"));
  well(await api().GET("/api/version"));
  const asked = await api().GET("/api/version");
  late(asked, refused(asked, 429, "RATE_LIMITED").retry_after_sec);
  // Pages that stay are counted apart.
  for (const it of held.operations.filter((it) => !it.path.startsWith("/api/browse/"))) {
    const headers = { Host: new URL(place.base).host, Authorization: `Bearer ${place.token}` };
    assert.equal((await held.raw(place.base, it.verb.toUpperCase(), filled(it), headers)).status, 429, it.path);
  }
  place.stop();

  place.start("rest_per_minute = 600000\nrest_burst = 100000\nrun_per_minute = 1\nrun_burst = 1\nqueue = 1\n");
  const run = (name: string, header = {}) => api().POST("/api/recipes/{name}/run", { params: { path: { name }, header }, body: { params: { q: "a" }, draft: true } });
  well(await run("site"));
  const again = await run("site");
  late(again, refused(again, 429, "RATE_LIMITED").retry_after_sec);
  const words = await api().POST("/api/runs", { body: { task: "Look for something at the place called site", params: { q: "a" } } });
  refused(words, 429, "RATE_LIMITED");

  // One learns and one waits: no more.
  const learn = (name: string) => api().POST("/api/recipes/learn", { body: { task: `Look at {x} for ${name}`, name, url: "http://silent.test/{x}", params: { x: "abc" } } });
  const first = well(await learn("one"), 202);
  while (well(await api().GET("/api/tasks/{task_id}", { params: { path: { task_id: first.task_id } } })).state === "queued") await sleep(20);
  const second = well(await learn("two"), 202);
  const third = await learn("three");
  late(third, refused(third, 429, "QUEUE_FULL").retry_after_sec);
  const full = [
    await run("silent", APART),
    await api().POST("/api/recipes/{name}/verify", { params: { path: { name: "site" } } }),
    await api().POST("/api/tasks/{task_id}/candidates/{candidate}/recipe", { params: { path: { task_id: second.task_id, candidate: 1 } }, body: {} }),
  ];
  for (const it of full) refused(it, 429, "QUEUE_FULL");
  for (const { task_id } of [second, first]) assert.equal(well(await api().POST("/api/tasks/{task_id}/cancel", { params: { path: { task_id } } })).state, "cancelled");
}

/// Whoever guesses tokens waits; whoever has one does not.
export async function guessed({ as, held, place }: Drive): Promise<void> {
  let last = 0;
  for (let i = 0; i < 80 && last !== 429; i++) last = (await held.raw(place.base, "GET", "/api/version", { Host: new URL(place.base).host, Authorization: `Bearer cms_${i}` })).status;
  assert.equal(last, 429);
  well(await as().GET("/api/version"));
}
