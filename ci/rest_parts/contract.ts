// The daemon's REST interface through a client whose types are made of its own document: each operation with a success, each kind of
// refusal, tasks from the first answer to the last event. Says `no …` for what does not hold and ends with 1; see held.ts for what
// every answer is held to besides.

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { setTimeout as timeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, operations, paths } from "./api.js";
import { guessed, matrix, slowly, tight } from "./errors.js";
import { Held } from "./held.js";
import { Place, UNLIMITED } from "./place.mjs";

const ROOT = process.env.ROOT ?? "";
const SERVE = `${UNLIMITED}streams = 3\n`;

export type Task = components["schemas"]["Task"];
export type Trouble = components["schemas"]["Error"];
export type Api = ReturnType<typeof createClient<paths>>;

export interface Drive {
  place: Place;
  held: Held;
  /// A client of the daemon as it stands, with that token, or the root's.
  as: (token?: string, base?: string) => Api;
}

interface Came<D> {
  data?: { ok: true; data: D };
  error?: { ok: false; error: Trouble };
  response: Response;
}

/// What came of it.
export function well<D>(it: Came<D>, status = 200): D {
  assert.equal(it.response.status, status, JSON.stringify(it.error));
  assert.ok(it.data);
  return it.data.data;
}

/// That it came to nothing, with that status and code.
export function refused(it: Omit<Came<unknown>, "data"> & { data?: unknown }, status: number, code: string): Trouble {
  assert.equal(`${it.response.status} ${it.error?.error.error_code}`, `${status} ${code}`, JSON.stringify(it.error ?? it.data));
  assert.ok(it.error);
  return it.error.error;
}

export const sleep = (ms: number) => timeout(ms);
type Asked = NonNullable<operations["recipe_run"]["parameters"]["header"]>;
export const APART: Asked = { Prefer: "respond-async" };
const key = (it: string) => ({ header: { "Idempotency-Key": it } });

/// Until the task has ended.
async function ended(api: Api, task_id: string): Promise<Task> {
  for (;;) {
    const task = well(await api.GET("/api/tasks/{task_id}", { params: { path: { task_id } } }));
    if (!["queued", "running"].includes(task.state)) return task;
    await sleep(50);
  }
}

interface Told {
  id: number;
  event: string;
  data: { id: number; task_id: string | null; at_ms: number; kind: string; data: unknown };
}

/// Events of a stream as they come.
async function* told(stream: ReadableStream<Uint8Array>): AsyncGenerator<Told> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of stream) {
    text += decoder.decode(part, { stream: true });
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const fields = new Map(text.slice(0, end).split("\n").map((it) => it.split(/: (.*)/) as [string, string]));
      text = text.slice(end + 2);
      // A comment keeps the connection open.
      if (fields.has("data")) yield { id: Number(fields.get("id")), event: fields.get("event") ?? "", data: JSON.parse(fields.get("data") ?? "") };
    }
  }
}

async function stream(api: Api, task_id: string, after?: number): Promise<AsyncGenerator<Told>> {
  const params = { path: { task_id }, ...(after === undefined ? {} : { header: { "Last-Event-ID": after } }) };
  const { data, response } = await api.GET("/api/tasks/{task_id}/events", { params, parseAs: "stream" });
  assert.equal(response.status, 200);
  assert.ok(data);
  return told(data as unknown as ReadableStream<Uint8Array>);
}

async function all<T>(it: AsyncGenerator<T>): Promise<T[]> {
  const out: T[] = [];
  for await (const one of it) out.push(one);
  return out;
}

const SHOP = {
  task: "Search the shop for {query} and list the products with their prices",
  name: "shop-search",
  url: "https://shop.test/",
  steps: [{ fill: { role: "searchbox", name: "Search products", value: "{query}" } }, { press: "Enter" }, { wait_for: { text: "results for {query}" } }],
  params: { query: "lantern" },
  second: { query: "garden hose" },
};

async function daemon({ as, place }: Drive): Promise<void> {
  const api = as();
  const it = well(await api.GET("/api/version"));
  assert.equal(`commis ${it.version}`, place.run("--version").trim());
  assert.ok(it.mcp.includes("2026-07-28"));
  const health = well(await api.GET("/api/health"));
  assert.deepEqual([health.version, health.queued, health.running, health.remote], [it.version, 0, 0, null]);
  assert.deepEqual(well(await api.POST("/api/reload", { body: {} })), { reloaded: true });
  place.config("nothing is like it");
  refused(await api.POST("/api/reload", { body: {} }), 422, "SETTINGS_INVALID");
  place.config(SERVE);
  const opening = well(await api.POST("/api/dashboard/code", { body: {} }));
  assert.equal(opening.url, `${place.base}/#${opening.code}`);
}

async function recipes({ as }: Drive): Promise<void> {
  const api = as();
  const path = { name: "site" };
  const list = well(await api.GET("/api/recipes", { params: { query: { status: "draft" } } })).recipes;
  assert.ok(list.some((it) => it.name === "site" && it.source === "user") && list.every((it) => it.status === "draft"));
  assert.ok(well(await api.GET("/api/recipes", { params: { query: { category: "media" } } })).recipes.every((it) => it.category === "media"));
  const found = well(await api.GET("/api/recipes/find", { params: { query: { words: "look at the place called site", limit: 3 } } })).recipes;
  assert.equal(found[0]?.name, "site");
  assert.ok(found.length <= 3);
  const site = well(await api.GET("/api/recipes/{name}", { params: { path } }));
  assert.deepEqual([site.status, site.parameters, site.reads_only], ["draft", ["q"], true]);
  refused(await api.GET("/api/recipes/{name}", { params: { path: { name: "none" } } }), 404, "RECIPE_NOT_FOUND");
  refused(await api.GET("/api/recipes/{name}", { params: { path: { name: "A B" } } }), 422, "RECIPE_INVALID");
  // @ts-expect-error there is no such status
  refused(await api.GET("/api/recipes", { params: { query: { status: "nonsense" } } }), 400, "PARAM_INVALID");
  // @ts-expect-error words are needed
  refused(await api.GET("/api/recipes/find", { params: { query: {} } }), 400, "PARAM_INVALID");
  refused(await api.GET("/api/recipes/find", { params: { query: { words: "x", limit: 51 } } }), 400, "PARAM_INVALID");

  const shown = well(await api.POST("/api/recipes/{name}/dry-run", { params: { path }, body: { params: { q: "a b" } } }));
  assert.deepEqual([shown.method, shown.url], ["GET", "http://site.test/items?q=a+b"]);
  refused(await api.POST("/api/recipes/{name}/dry-run", { params: { path }, body: {} }), 400, "PARAM_INVALID");
  refused(await api.POST("/api/recipes/{name}/dry-run", { params: { path: { name: "none" } }, body: {} }), 404, "RECIPE_NOT_FOUND");
  refused(await api.POST("/api/recipes/{name}/dry-run", { params: { path: { name: "A B" } }, body: {} }), 422, "RECIPE_INVALID");
  refused(await api.POST("/api/recipes/{name}/dry-run", { params: { path: { name: "inside" } }, body: { params: { q: "a" } } }), 424, "URL_BLOCKED");

  assert.equal(well(await api.POST("/api/recipes/validate", { body: { name: "site", params: { q: "a" } } })).valid, true);
  const wrong = well(await api.POST("/api/recipes/validate", { body: { yaml: "{" } }));
  assert.deepEqual([wrong.valid, wrong.errors.length], [false, 1]);
  refused(await api.POST("/api/recipes/validate", { body: {} }), 400, "PARAM_INVALID");
  refused(await api.POST("/api/recipes/validate", { body: { name: "none" } }), 404, "RECIPE_NOT_FOUND");

  const code = well(await api.GET("/api/recipes/{name}/export", { params: { path, query: { form: "curl" } } }));
  assert.ok(code.files[0]?.text.includes("curl --fail-with-body"));
  refused(await api.GET("/api/recipes/{name}/export", { params: { path: { name: "none" }, query: { form: "curl" } } }), 404, "RECIPE_NOT_FOUND");
  assert.deepEqual(well(await api.POST("/api/recipes/{name}/fork", { params: { path }, body: { new_name: "copy" } })), { name: "copy" });
  refused(await api.POST("/api/recipes/{name}/fork", { params: { path }, body: { new_name: "copy" } }), 409, "RECIPE_EXISTS");
  refused(await api.POST("/api/recipes/{name}/fork", { params: { path: { name: "none" } }, body: { new_name: "other" } }), 404, "RECIPE_NOT_FOUND");
  refused(await api.POST("/api/recipes/{name}/fork", { params: { path }, body: { new_name: "A B" } }), 422, "RECIPE_INVALID");
  // @ts-expect-error the copy needs a name
  refused(await api.POST("/api/recipes/{name}/fork", { params: { path }, body: {} }), 400, "PARAM_INVALID");
  assert.deepEqual(well(await api.DELETE("/api/recipes/{name}", { params: { path: { name: "copy" } } })), { name: "copy" });
  refused(await api.DELETE("/api/recipes/{name}", { params: { path: { name: "copy" } } }), 404, "RECIPE_NOT_FOUND");
  refused(await api.DELETE("/api/recipes/{name}", { params: { path: { name: "archive-search" } } }), 403, "RECIPE_READ_ONLY");
  refused(await api.DELETE("/api/recipes/{name}", { params: { path: { name: "A B" } } }), 422, "RECIPE_INVALID");
}

async function runs({ as }: Drive): Promise<void> {
  const api = as();
  const run = (name: string, body: { params?: Record<string, string | number | boolean>; draft?: boolean }) => api.POST("/api/recipes/{name}/run", { params: { path: { name } }, body });
  refused(await run("site", { params: { q: "a" } }), 409, "RECIPE_NOT_VERIFIED");
  const draft = await run("site", { params: { q: 7 }, draft: true });
  assert.deepEqual((well(draft) as { name: string }[]).map((it) => it.name), ["7: a lamp", "7: a rope", "7: a tent"]);
  assert.equal(draft.data?.meta.transport_used, "public_http");
  assert.ok((draft.data?.meta.timings_ms?.total ?? 0) > 0);

  const made = await api.POST("/api/recipes/{name}/verify", { params: { path: { name: "site" }, ...key("prove it") } });
  const task = well(made, 202);
  assert.deepEqual([task.operation, task.args], ["recipe_verify", { name: "site" }]);
  refused(await api.POST("/api/recipes/{name}/verify", { params: { path: { name: "gone" }, ...key("prove it") } }), 409, "KEY_REUSED");
  assert.equal((await ended(api, task.task_id)).state, "done");
  const proof = well(await api.GET("/api/tasks/{task_id}/result", { params: { path: { task_id: task.task_id } } })) as { verified: boolean };
  assert.equal(proof.verified, true);
  assert.ok(well(await api.GET("/api/recipes/{name}", { params: { path: { name: "site" } } })).proof);
  // It works, so it is left alone.
  const healing = well(await api.POST("/api/recipes/{name}/heal", { params: { path: { name: "site" }, ...key("heal it") } }), 202);
  assert.equal((await ended(api, healing.task_id)).state, "done");
  const { words } = well(await api.GET("/api/recipes/{name}/explain", { params: { path: { name: "site" } } }));
  assert.ok(words.some((it) => it.startsWith("site: ")));

  assert.equal((well(await run("site", { params: { q: "b" } })) as unknown[]).length, 3);
  refused(await run("site", {}), 400, "PARAM_INVALID");
  refused(await run("none", {}), 404, "RECIPE_NOT_FOUND");
  refused(await run("A B", {}), 422, "RECIPE_INVALID");
  refused(await run("gone", { params: { q: "a" }, draft: true }), 424, "NOT_FOUND");
  // @ts-expect-error an object is no value
  refused(await run("site", { params: { q: {} } }), 400, "PARAM_INVALID");
  refused(await run("site", { params: { q: `log in with token ghp_${"a1B2c3D4e5".repeat(4).slice(0, 36)}` } }), 400, "SECRET_IN_TASK");

  const asked = { task: "Look for something at the place called site", params: { q: "c" } };
  const meant: Came<unknown> = (await api.POST("/api/runs", { body: asked })) as Came<unknown>;
  const told = well(meant) as { by: string; data: unknown[] };
  assert.deepEqual([told.by, told.data.length], ["recipe", 3]);
  assert.ok(well(await api.GET("/api/playbooks")).playbooks.length >= 3);
  assert.deepEqual(well(await api.GET("/api/transcripts")).runs, []);
  assert.deepEqual(well(await api.GET("/api/watches")).watches, []);
  refused(await api.GET("/api/watches/{watch}/log", { params: { path: { watch: "none" } } }), 404, "WATCH_NOT_FOUND");
  refused(await api.POST("/api/watches", { body: { recipe: "none", every: "1h" } }), 404, "RECIPE_NOT_FOUND");
  const none = { id: "r000000000000", other: "r000000000001" };
  refused(await api.GET("/api/transcripts/{id}", { params: { path: { id: none.id } } }), 404, "TASK_NOT_FOUND");
  refused(await api.GET("/api/transcripts/{id}/compare/{other}", { params: { path: none } }), 404, "TASK_NOT_FOUND");
  assert.deepEqual(well(await api.GET("/api/approvals")).approvals, []);
  refused(await api.GET("/api/approvals/{id}", { params: { path: { id: "0123456789abcdef" } } }), 404, "APPROVAL_NOT_FOUND");
  refused(await api.POST("/api/runs", { body: { task: "nothing is like it" } }), 404, "RECIPE_NOT_FOUND");
  refused(await api.POST("/api/runs", { body: { task: "Look for something at the place called lost", params: { q: "c" } } }), 424, "NOT_FOUND");
  refused(await api.POST("/api/runs", { body: { task: "Look for something at the place called keyed", params: { q: "c" } } }), 422, "AUTH_ENV_MISSING");
  // @ts-expect-error the task is needed
  refused(await api.POST("/api/runs", { body: {} }), 400, "PARAM_INVALID");
  refused(await api.POST("/api/research", { body: {} }), 400, "PARAM_INVALID");
  refused(await api.POST("/api/research", { body: { resume: "s0123456789ab" } }), 404, "TASK_NOT_FOUND");
  refused(await api.POST("/api/research", { body: { topic: "lakes" } }), 422, "SETTINGS_INVALID");
}

async function learning({ as, place }: Drive): Promise<void> {
  const api = as();
  const made = await api.POST("/api/recipes/learn", { params: key("learn it"), body: SHOP });
  const { task_id } = well(made, 202);
  const path = { task_id };
  refused(await api.GET("/api/tasks/{task_id}/result", { params: { path } }), 409, "TASK_NOT_DONE");
  assert.equal(well(await api.POST("/api/recipes/learn", { params: key("learn it"), body: SHOP }), 202).task_id, task_id);
  refused(await api.POST("/api/recipes/learn", { params: key("learn it"), body: { ...SHOP, name: "other" } }), 409, "KEY_REUSED");
  refused(await api.POST("/api/recipes/learn", { params: key("k".repeat(201)), body: SHOP }), 400, "PARAM_INVALID");

  // From its beginning to its end, as it goes on.
  const events = await all(await stream(api, task_id));
  assert.deepEqual([events[0]?.event, events.at(-1)?.event], ["queued", "done"]);
  assert.ok(events.filter((it) => it.event === "stage").length >= 5, JSON.stringify(events.map((it) => it.event)));
  assert.ok(events.every((it, i) => it.id > (events[i - 1]?.id ?? 0) && it.data.id === it.id && it.data.task_id === task_id && it.data.kind === it.event));
  // What came after one of them, no more and no less.
  const after = await all(await stream(api, task_id, events[2]?.id));
  assert.deepEqual(after.map((it) => it.id), events.slice(3).map((it) => it.id));
  // @ts-expect-error an id is a number
  refused(await api.GET("/api/tasks/{task_id}/events", { params: { path, header: { "Last-Event-ID": "x" } } }), 400, "PARAM_INVALID");

  const task = well(await api.GET("/api/tasks/{task_id}", { params: { path } }));
  assert.deepEqual([task.state, task.operation, task.principal, task.error], ["done", "recipe_learn", "root", null]);
  assert.ok(task.created_ms <= (task.began_ms ?? 0) && (task.began_ms ?? 0) <= (task.ended_ms ?? 0));
  const learned = await api.GET("/api/tasks/{task_id}/result", { params: { path } });
  assert.equal((well(learned) as { outcome: string }).outcome, "verified");
  assert.equal(learned.data?.meta.task_id, task_id);
  assert.equal(well(await api.POST("/api/tasks/{task_id}/cancel", { params: { path } })).state, "done");
  const ran = well(await api.POST("/api/recipes/{name}/run", { params: { path: { name: "shop-search" } }, body: { params: { query: "umbrella" } } }));
  assert.ok(Array.isArray(ran) && ran.length > 0);
  assert.ok(well(await api.GET("/api/tasks/{task_id}/candidates", { params: { path } })).candidates.length > 0);

  refused(await api.POST("/api/recipes/learn", { body: { task: "t" } }), 400, "PARAM_INVALID");
  refused(await api.POST("/api/recipes/learn", { body: { task: "", url: "http://site.test/" } }), 422, "MANIFEST_INVALID");
  refused(await api.POST("/api/recipes/learn", { body: { task: "t", url: "http://site.test/", steps: [{ leap: 1 }] } }), 400, "PARAM_INVALID");

  // A file that is handed over: what is none, one that is too large, and one that is learned from.
  // @ts-expect-error a HAR has a log
  refused(await api.POST("/api/uploads/har", { body: { entries: [] } }), 422, "HAR_INVALID");
  refused(await api.POST("/api/uploads/har", { body: { log: { entries: ["x".repeat(64 << 20)] } } }), 413, "BODY_TOO_LARGE");
  const log = (JSON.parse(fs.readFileSync(`${ROOT}/tests/fixtures/books.har`, "utf8")) as { log: { entries: unknown[] } }).log;
  const { upload } = well(await api.POST("/api/uploads/har", { body: { log } }));
  const handed = { task: "Find books about {query}", params: { query: "harbour" }, no_network: true, name: "handed-over" };
  const taken = well(await api.POST("/api/recipes/learn", { body: { ...handed, upload } }), 202);
  assert.equal((await all(await stream(api, taken.task_id))).at(-1)?.event, "done");
  refused(await api.POST("/api/recipes/learn", { body: { ...handed, upload, url: "http://site.test/" } }), 400, "PARAM_INVALID");
  const lost = well(await api.POST("/api/recipes/learn", { body: { ...handed, upload: "har-000000000000", force: true } }), 202);
  assert.equal((await all(await stream(api, lost.task_id))).at(-1)?.event, "failed");

  // Where nothing is sure enough, somebody chooses.
  place.config(SERVE, "[decision]\nmin_confidence_bp = 10000\n");
  well(await api.POST("/api/reload", { body: {} }));
  const har = `${ROOT}/tests/fixtures/books.har`;
  const books = well(await api.POST("/api/recipes/learn", { body: { task: "Find books about {query}", har, params: { query: "harbour" }, no_network: true, name: "books" } }), 202);
  await ended(api, books.task_id);
  const undecided = well(await api.GET("/api/tasks/{task_id}/result", { params: { path: { task_id: books.task_id } } })) as { outcome: string };
  assert.equal(undecided.outcome, "needs_selection");
  const { candidates, doubt } = well(await api.GET("/api/tasks/{task_id}/candidates", { params: { path: { task_id: books.task_id } } }));
  assert.equal(candidates[0]?.candidate, 1);
  assert.ok(candidates.every((it, i) => it.score_bp <= (candidates[i - 1]?.score_bp ?? it.score_bp)), String(doubt));
  place.config(SERVE);
  well(await api.POST("/api/reload", { body: {} }));
  const choose = (candidate: number, name: string) =>
    api.POST("/api/tasks/{task_id}/candidates/{candidate}/recipe", { params: { path: { task_id: books.task_id, candidate } }, body: { name } });
  // One of a task whose site is there becomes a recipe.
  const one = { params: { path: { task_id, candidate: 1 }, ...key("the first") }, body: { name: "shop-chosen" } };
  const create = "/api/tasks/{task_id}/candidates/{candidate}/recipe";
  const chosen = well(await api.POST(create, one), 202);
  assert.equal(well(await api.POST(create, one), 202).task_id, chosen.task_id);
  refused(await api.POST(create, { ...one, body: { name: "shop-other" } }), 409, "KEY_REUSED");
  assert.equal((await ended(api, chosen.task_id)).state, "done");
  const result = well(await api.GET("/api/tasks/{task_id}/result", { params: { path: { task_id: chosen.task_id } } })) as { outcome: string };
  assert.equal(result.outcome, "verified", JSON.stringify(result));
  assert.equal(well(await api.GET("/api/recipes/{name}", { params: { path: { name: "shop-chosen" } } })).status, "verified");
  refused(await choose(65, "books-none"), 400, "PARAM_INVALID");
  const none = well(await choose(64, "books-none"), 202);
  assert.equal((await ended(api, none.task_id)).state, "failed");
  const { message } = refused(await api.GET("/api/tasks/{task_id}/result", { params: { path: { task_id: none.task_id } } }), 400, "USAGE");
  assert.ok(message.includes("candidate"));
}

async function tasks({ as }: Drive): Promise<void> {
  const api = as();
  const slow = (q: string, header: Asked = {}) => api.POST("/api/recipes/{name}/run", { params: { path: { name: "silent" }, header }, body: { params: { q }, draft: true } });
  // What is asked for apart is answered before it is begun.
  const first = well(await slow("a", { ...APART, "Idempotency-Key": "slow" }), 202) as Task;
  assert.equal((well(await slow("a", { ...APART, "Idempotency-Key": "slow" }), 202) as Task).task_id, first.task_id);
  refused(await slow("b", { ...APART, "Idempotency-Key": "slow" }), 409, "KEY_REUSED");
  refused(await slow("b", { ...APART, "Idempotency-Key": "" }), 400, "PARAM_INVALID");
  const path = { task_id: first.task_id };
  const watched = await stream(api, first.task_id);
  assert.equal((await watched.next()).value?.event, "queued");
  const running = well(await api.GET("/api/tasks", { params: { query: { limit: 5 } } })).tasks;
  assert.ok(running.some((it) => it.task_id === first.task_id));
  assert.deepEqual(well(await api.POST("/api/shutdown", { body: { if_idle: true } })).stopping, false);
  assert.equal(well(await api.POST("/api/tasks/{task_id}/cancel", { params: { path } })).state, "cancelled");
  const rest = await all(watched);
  assert.equal(rest.at(-1)?.event, "cancelled");
  const gone = refused(await api.GET("/api/tasks/{task_id}/result", { params: { path } }), 410, "CANCELLED");
  assert.equal(gone.task_id, first.task_id);
  assert.equal(well(await api.GET("/api/tasks/{task_id}", { params: { path } })).state, "cancelled");
  assert.ok(well(await api.GET("/api/tasks", { params: { query: { state: "cancelled" } } })).tasks.every((it) => it.state === "cancelled"));
  refused(await api.GET("/api/tasks", { params: { query: { limit: 0 } } }), 400, "PARAM_INVALID");
  // @ts-expect-error nothing stands like that
  refused(await api.GET("/api/tasks", { params: { query: { state: "nonsense" } } }), 400, "PARAM_INVALID");

  // What takes longer than two seconds becomes one; one that is waited for ends with who cancels it; the same by words.
  const cancel = async (q: string) => {
    for (;;) {
      const open = well(await api.GET("/api/tasks", { params: { query: { state: "running" } } })).tasks;
      const it = open.find((it) => JSON.stringify(it.args).includes(`"q":"${q}"`));
      if (it) return well(await api.POST("/api/tasks/{task_id}/cancel", { params: { path: { task_id: it.task_id } } }));
      await sleep(20);
    }
  };
  const words = (place: string, q: string, header: Asked) => api.POST("/api/runs", { body: { task: `Look for something at the place called ${place}`, params: { q } }, params: { header } });
  const late = slow("c");
  refused((await Promise.all([slow("d", { "Idempotency-Key": "waited for" }), cancel("d")]))[0], 410, "CANCELLED");
  refused((await Promise.all([words("quiet", "e", { "Idempotency-Key": "words" }), cancel("e")]))[0], 410, "CANCELLED");
  refused(await words("site", "f", { ...APART, "Idempotency-Key": "words" }), 409, "KEY_REUSED");
  const { task_id } = well(await late, 202) as Task;
  assert.equal(well(await api.POST("/api/tasks/{task_id}/cancel", { params: { path: { task_id } } })).state, "cancelled");

  // How others end is said by what they came to.
  const end = async (made: Came<unknown>) => {
    const { task_id } = well(made, 202) as Task;
    const { state } = await ended(api, task_id);
    return { state, result: await api.GET("/api/tasks/{task_id}/result", { params: { path: { task_id } } }) };
  };
  const done = await end(await words("site", "g", APART));
  assert.deepEqual([done.state, (well(done.result) as { data: unknown[] }).data.length], ["done", 3]);
  const lost = await end(await words("lost", "h", APART));
  assert.deepEqual([lost.state, refused(lost.result, 424, "NOT_FOUND").retryable], ["failed", false]);
  // What is no name is not written down.
  refused(await api.POST("/api/recipes/{name}/run", { params: { path: { name: "A B" }, header: APART }, body: {} }), 422, "RECIPE_INVALID");
  const blocked = await end(await api.POST("/api/recipes/learn", { body: { task: "Look at what is inside", url: "http://127.0.0.1/" } }));
  const { task_id: unseen } = refused(blocked.result, 424, "URL_BLOCKED");
  refused(await api.GET("/api/tasks/{task_id}/candidates", { params: { path: { task_id: unseen ?? "" } } }), 404, "TASK_NOT_FOUND");

  const missing = { params: { path: { task_id: "t-none" } } };
  refused(await api.GET("/api/tasks/{task_id}", missing), 404, "TASK_NOT_FOUND");
  refused(await api.GET("/api/tasks/{task_id}/result", missing), 404, "TASK_NOT_FOUND");
  refused(await api.GET("/api/tasks/{task_id}/events", missing), 404, "TASK_NOT_FOUND");
  refused(await api.GET("/api/tasks/{task_id}/candidates", missing), 404, "TASK_NOT_FOUND");
  refused(await api.POST("/api/tasks/{task_id}/cancel", missing), 404, "TASK_NOT_FOUND");
}

async function events({ as }: Drive): Promise<void> {
  const api = as();
  const open = new AbortController();
  const watch = async (after?: number) => {
    const { data, response } = await api.GET("/api/events", { params: after === undefined ? {} : { header: { "Last-Event-ID": after } }, parseAs: "stream", signal: open.signal });
    assert.equal(response.status, 200);
    return told(data as unknown as ReadableStream<Uint8Array>);
  };
  const coming = await watch();
  well(await api.POST("/api/recipes/{name}/fork", { params: { path: { name: "site" } }, body: { new_name: "seen" } }));
  const forked = (await coming.next()).value;
  assert.deepEqual([forked?.event, forked?.data.data], ["recipe", { name: "seen", status: "draft" }]);
  well(await api.DELETE("/api/recipes/{name}", { params: { path: { name: "seen" } } }));
  const missed = await watch(forked.id);
  assert.deepEqual((await missed.next()).value?.data.data, { name: "seen", status: "deleted" });
  // Three may be open at once.
  await watch();
  refused(await api.GET("/api/events"), 429, "RATE_LIMITED");
  refused(await api.GET("/api/tasks/{task_id}/events", { params: { path: { task_id: well(await api.GET("/api/tasks")).tasks[0]?.task_id ?? "" } } }), 429, "RATE_LIMITED");
  open.abort();
  // @ts-expect-error an id is a number
  refused(await api.GET("/api/events", { params: { header: { "Last-Event-ID": "x" } } }), 400, "PARAM_INVALID");
}

async function tokens({ as }: Drive): Promise<void> {
  const api = as();
  const made = well(await api.POST("/api/tokens", { body: { can: ["run:site", "tasks:read"], expires_sec: 3600, note: "for the contract" } }));
  assert.deepEqual([made.scopes, made.note], [["run:site", "tasks:read"], "for the contract"]);
  const listed = well(await api.GET("/api/tokens")).tokens;
  assert.deepEqual(listed, [{ id: made.id, scopes: made.scopes, note: made.note, created_ms: made.created_ms, expires_ms: made.expires_ms }]);
  const scoped = as(made.token);
  const run = (name: string, q: string, header: Asked = {}) => scoped.POST("/api/recipes/{name}/run", { params: { path: { name }, header }, body: { params: { q } } });
  assert.equal((well(await run("site", "t")) as unknown[]).length, 3);
  refused(await run("shop-search", "t"), 403, "FORBIDDEN");
  refused(await run("none", "t"), 403, "FORBIDDEN");
  // It knows what it may run, and its own tasks.
  assert.deepEqual(well(await scoped.GET("/api/recipes")).recipes.map((it) => it.name), ["site"]);
  assert.deepEqual(well(await scoped.GET("/api/recipes/find", { params: { query: { words: "shop" } } })).recipes.map((it) => it.name).filter((it) => it !== "site"), []);
  refused(await scoped.GET("/api/recipes/{name}", { params: { path: { name: "shop-search" } } }), 404, "RECIPE_NOT_FOUND");
  assert.equal(well(await scoped.GET("/api/health")).recipes, 1);
  const own = well(await run("site", "own", APART), 202) as Task;
  assert.equal(own.principal, made.id);
  await ended(scoped, own.task_id);
  assert.deepEqual(well(await scoped.GET("/api/tasks")).tasks.map((it) => it.task_id), [own.task_id]);
  const others = well(await api.GET("/api/tasks", { params: { query: { limit: 1000 } } })).tasks.find((it) => it.principal === "root");
  refused(await scoped.GET("/api/tasks/{task_id}", { params: { path: { task_id: others?.task_id ?? "" } } }), 404, "TASK_NOT_FOUND");
  refused(await scoped.GET("/api/tasks/{task_id}/events", { params: { path: { task_id: others?.task_id ?? "" } } }), 404, "TASK_NOT_FOUND");
  refused(await scoped.POST("/api/tasks/{task_id}/cancel", { params: { path: { task_id: own.task_id } } }), 403, "FORBIDDEN");
  refused(await scoped.GET("/api/events"), 403, "FORBIDDEN");
  // A key is the token's own.
  const mine = well(await run("site", "k", { ...APART, "Idempotency-Key": "slow" }), 202) as Task;
  assert.equal((await ended(scoped, mine.task_id)).state, "done");

  assert.deepEqual(well(await api.DELETE("/api/tokens/{id}", { params: { path: { id: made.id } } })), { id: made.id });
  refused(await api.DELETE("/api/tokens/{id}", { params: { path: { id: made.id } } }), 404, "NO_SUCH_ADDRESS");
  refused(await scoped.GET("/api/version"), 401, "UNAUTHORIZED");
  const brief = well(await api.POST("/api/tokens", { body: { can: ["run:*"], expires_sec: 1 } }));
  well(await as(brief.token).GET("/api/version"));
  await sleep(1100);
  refused(await as(brief.token).GET("/api/version"), 401, "UNAUTHORIZED");
  for (const wrong of [{ can: [] }, { can: Array(101).fill("run:*") }, { can: ["run:*"], expires_sec: 0 }, { can: ["run:*"], expires_sec: 31_536_001 }, { can: ["run:*"], note: "n".repeat(51) }]) {
    refused(await api.POST("/api/tokens", { body: wrong }), 400, "PARAM_INVALID");
    refused(await api.POST("/api/remote/pair", { body: wrong }), 400, "PARAM_INVALID");
  }
  refused(await api.POST("/api/tokens", { body: { can: ["everything"] } }), 400, "USAGE");
}

async function remote({ as, held, place }: Drive): Promise<void> {
  const api = as();
  refused(await api.POST("/api/remote/on", { body: { bind: "0.0.0.0:0" } }), 403, "FORBIDDEN");
  refused(await api.POST("/api/remote/on", { body: { bind: "nowhere" } }), 400, "PARAM_INVALID");
  refused(await api.POST("/api/remote/pair", { body: { can: ["everything"] } }), 400, "USAGE");
  const { key } = well(await api.POST("/api/remote/pair", { body: { can: ["run:site"], expires_sec: 600, note: "afar" } }));
  const { addr } = well(await api.POST("/api/remote/on", { body: { bind: "127.0.0.1:0" } }));
  assert.equal(well(await api.GET("/api/health")).remote, addr);
  refused(await api.POST("/api/remote/on", { body: { bind: "127.0.0.1:0" } }), 400, "USAGE");
  const base = `http://${addr}`;
  const host = { Host: String(addr), "Content-Type": "application/json" };
  const traded = await fetch(`${base}/connect`, { method: "POST", headers: host, body: JSON.stringify({ key }) });
  const { data } = (await traded.json()) as { data: { token: string; scopes: string[] } };
  assert.deepEqual(data.scopes, ["run:site"]);
  const afar = as(data.token, base);
  assert.equal((well(await afar.POST("/api/recipes/{name}/run", { params: { path: { name: "site" } }, body: { params: { q: "afar" } } })) as unknown[]).length, 3);
  refused(await afar.POST("/api/recipes/{name}/verify", { params: { path: { name: "site" } } }), 404, "NO_SUCH_ADDRESS");
  refused(await as(undefined, base).GET("/api/version"), 403, "FORBIDDEN");
  assert.equal((await held.raw(base, "GET", "/api/version", { Host: String(addr) })).status, 401);
  assert.equal(well(await api.POST("/api/remote/off", { body: {} })).addr, null);
  await assert.rejects(fetch(`${base}/health`));
  refused(await api.POST("/api/remote/on", { body: { bind: new URL(place.base).host } }), 424, "DAEMON_FAILED");
}

async function end({ as, place }: Drive): Promise<void> {
  const stopped = well(await as().POST("/api/shutdown", { body: {} }));
  assert.equal(stopped.stopping, true);
  for (let i = 0; place.lives(); i++) {
    assert.ok(i < 200, "it is still there");
    await sleep(50);
  }
  place.pid = 0;
}

async function browse({ as, place }: Drive): Promise<void> {
  const api = as();
  const on = (target: string) => ({ body: { target } });
  well(await api.POST("/api/browse/goto", { body: { url: "https://shop.test/" } }));
  assert.equal(well(await api.POST("/api/browse/url", { body: {} })).text, "https://shop.test/");
  assert.ok(well(await api.POST("/api/browse/title", { body: {} })).text);
  const shown = well(await api.POST("/api/browse/snapshot", { body: { interactive: true, clickable: true } }));
  const field = /^(@e\d+) searchbox "Search products"/m.exec(shown.text)?.[1] ?? "";
  const filled = well(await api.POST("/api/browse/fill", { body: { target: field, value: "lantern" } }));
  assert.ok(filled.effect?.requests.some((it) => it.path === "/api/suggest?q=lantern" && it.status === 200));
  well(await api.POST("/api/browse/press", { body: { key: "Enter" } }));
  well(await api.POST("/api/browse/wait", { body: { text: "results for lantern" } }));
  assert.equal(well(await api.POST("/api/browse/steps", { body: {} })).steps.length, 3);
  const learned = well(await api.POST("/api/browse/learn", { body: { task: "Search the shop for {query}", name: "browsed", params: { query: "lantern" }, second: { query: "hose" } } }));
  assert.equal((await ended(api, learned.task_id)).state, "done");
  well(await api.POST("/api/browse/network", { body: {} }));
  well(await api.POST("/api/browse/console", { body: {} }));
  well(await api.POST("/api/browse/links", { body: {} }));
  well(await api.POST("/api/browse/text", { body: {} }));
  assert.match(well(await api.POST("/api/browse/attrs", on(field))).text, /^type="search"$/m);
  assert.equal(well(await api.POST("/api/browse/is", { body: { target: field, asks: "visible" } })).text, "true");
  assert.match(well(await api.POST("/api/browse/forms", { body: {} })).text, /Search/);
  well(await api.POST("/api/browse/cookies", { body: {} }));
  well(await api.POST("/api/browse/storage", { body: {} }));
  well(await api.POST("/api/browse/blocked", { body: {} }));
  well(await api.POST("/api/browse/viewport", { body: { width: 800, height: 600 } }));
  refused(await api.POST("/api/browse/viewport", { body: { width: 1, height: 600 } }), 400, "PARAM_INVALID");
  well(await api.POST("/api/browse/emulate", { body: { device: "phone", color_scheme: "dark" } }));
  well(await api.POST("/api/browse/pdf", { body: {} }));
  well(await api.POST("/api/browse/newtab", { body: {} }));
  well(await api.POST("/api/browse/tabs", { body: {} }));
  well(await api.POST("/api/browse/closetab", { body: {} }));
  well(await api.POST("/api/browse/tab", { body: { tab: 1 } }));
  refused(await api.POST("/api/browse/tab", { body: { tab: 99 } }), 400, "PARAM_INVALID");
  refused(await api.POST("/api/browse/download", { body: { target: "css=body" } }), 424, "STEP_FAILED");
  well(await api.POST("/api/browse/html", { body: { target: "css=h1" } }));
  well(await api.POST("/api/browse/scroll", { body: { to: "bottom" } }));
  well(await api.POST("/api/browse/hover", on(field)));
  well(await api.POST("/api/browse/focus", on(field)));
  well(await api.POST("/api/browse/type", { body: { text: "x" } }));
  well(await api.POST("/api/browse/dblclick", on(field)));
  well(await api.POST("/api/browse/drag", { body: { from: field, to: 'button "Search"' } }));
  assert.ok(well(await api.POST("/api/browse/screenshot", { body: {} })).png_base64);
  refused(await api.POST("/api/browse/learn", { body: { task: "Search" } }), 400, "PARAM_INVALID");
  well(await api.POST("/api/browse/clear", { body: {} }));
  refused(await api.POST("/api/browse/click", on("@e9999")), 409, "REF_STALE");
  refused(await api.POST("/api/browse/click", on("what")), 400, "PARAM_INVALID");
  refused(await api.POST("/api/browse/click", on('button "Not there"')), 424, "STEP_FAILED");
  refused(await api.POST("/api/browse/goto", { body: { url: "http://127.0.0.1/" } }), 424, "URL_BLOCKED");
  well(await api.POST("/api/browse/status", { body: {} }));
  well(await api.POST("/api/browse/reload", { body: {} }));
  const kept = well(await api.POST("/api/sessions/record", { body: { name: "search", url: "https://shop.test/" } }));
  well(await api.POST("/api/browse/fill", { body: { target: 'searchbox "Search products"', value: "lantern" } }));
  assert.equal(well(await api.POST("/api/sessions/end", { body: {} })).actions, 2);
  refused(await api.POST("/api/sessions/end", { body: {} }), 400, "PARAM_INVALID");
  assert.equal(well(await api.POST("/api/sessions/list", { body: { query: "search" } })).sessions.length, 1);
  assert.equal(well(await api.POST("/api/sessions/show", { body: { id: kept.id } })).actions.length, 2);
  assert.equal(well(await api.POST("/api/sessions/replay", { body: { id: kept.id, values: { 2: "hose" } } })).verdict, "pass");
  const forked = well(await api.POST("/api/sessions/fork", { body: { id: kept.id, at: 1, name: "from it" } }));
  assert.deepEqual(forked.parent, { session: kept.id, actions: 1 });
  refused(await api.POST("/api/sessions/fork", { body: { id: kept.id, at: 9, name: "none" } }), 400, "PARAM_INVALID");
  well(await api.POST("/api/sessions/end", { body: {} }));
  assert.equal(well(await api.POST("/api/sessions/diff", { body: { first: kept.id, second: forked.id } })).same, false);
  const relearned = well(await api.POST("/api/sessions/learn", { body: { id: kept.id, task: "Suggest for {query}", name: "kept", params: { query: "lantern" }, second: { query: "hose" } } }));
  await ended(api, relearned.task_id);
  well(await api.POST("/api/sessions/audit", { body: { id: kept.id } }));
  assert.ok(well(await api.POST("/api/sessions/purge", { body: { id: kept.id } })).purged);
  well(await api.POST("/api/browse/audit", { body: {} }));
  well(await api.POST("/api/browse/goto", { body: { url: "https://docs.test/" } }));
  well(await api.POST("/api/sessions/templates/save", { body: { name: "docs" } }));
  assert.equal(well(await api.POST("/api/sessions/templates/list", { body: {} })).templates.length, 1);
  well(await api.POST("/api/sessions/templates/show", { body: { name: "docs" } }));
  well(await api.POST("/api/sessions/templates/apply", { body: { name: "docs" } }));
  well(await api.POST("/api/sessions/templates/remove", { body: { name: "docs" } }));
  refused(await api.POST("/api/sessions/templates/show", { body: { name: "docs" } }), 404, "TASK_NOT_FOUND");
  well(await api.POST("/api/browse/diff", { body: { url: "https://shop.test/" } }));
  assert.equal(well(await api.POST("/api/browse/js", { body: { script: "document.body.insertAdjacentHTML('beforeend', '<input type=file id=up><a id=save download=page.html href=/>Save</a>'); 1 + 1" } })).text, "> 2");
  well(await api.POST("/api/browse/upload", { body: { target: "css=#up", files: [path.join(place.home, "config.toml")] } }));
  refused(await api.POST("/api/browse/upload", { body: { target: "css=#up", files: ["/etc/hostname"] } }), 403, "FORBIDDEN");
  assert.match(well(await api.POST("/api/browse/download", on("css=#save"))).text, /page\.html/);
  assert.equal(well(await api.POST("/api/browse/downloads", { body: {} })).files.length, 1);
  assert.match(well(await api.POST("/api/browse/watch", { body: {} })).url, /#/);
  refused(await api.POST("/api/browse/resume", { body: {} }), 400, "PARAM_INVALID");
  // Logins.
  well(await api.POST("/api/browse/goto", { body: { context: "one", url: "https://forum.test/" } }));
  assert.equal(well(await api.POST("/api/vault/save", { body: { name: "forum", context: "one" } })).name, "forum");
  assert.equal(well(await api.POST("/api/vault/list", { body: {} })).logins.length, 1);
  well(await api.POST("/api/vault/check", { body: { name: "forum" } }));
  assert.equal(well(await api.POST("/api/vault/mount", { body: { name: "forum", context: "two" } })).refused, 0);
  well(await api.POST("/api/vault/remove", { body: { name: "forum" } }));
  refused(await api.POST("/api/vault/check", { body: { name: "forum" } }), 400, "PARAM_INVALID");
  for (const context of ["one", "two"]) well(await api.POST("/api/browse/close", { body: { context } }));
  well(await api.POST("/api/browse/goto", { body: { url: "http://site.test/parts" } }));
  well(await api.POST("/api/browse/select", { body: { target: 'combobox "Size"', option: "M" } }));
  well(await api.POST("/api/browse/unselect", { body: { target: 'listbox "Extras"', option: "Wrap" } }));
  well(await api.POST("/api/browse/check", on('checkbox "Gift"')));
  well(await api.POST("/api/browse/uncheck", on('checkbox "Gift"')));
  well(await api.POST("/api/browse/dialog", { body: { accept: true } }));
  const clicked = well(await api.POST("/api/browse/click", on('button "Ask"')));
  assert.equal(clicked.effect?.dialogs.length, 1);
  assert.match(well(await api.POST("/api/browse/dialogs", { body: {} })).text, /accepted/);
  well(await api.POST("/api/browse/back", { body: {} }));
  well(await api.POST("/api/browse/forward", { body: {} }));
  well(await api.POST("/api/browse/close", { body: {} }));
}

/// What does not end is a fault, too.
async function soon(work: Promise<void>): Promise<void> {
  const over = new AbortController();
  const late = timeout(60_000, undefined, { signal: over.signal }).then(() => assert.fail("it takes more than a minute"));
  late.catch(() => {});
  try {
    await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}

async function main(): Promise<void> {
  const document = JSON.parse(fs.readFileSync("document.json", "utf8"));
  const codes = new Set(fs.readFileSync(path.join(ROOT, "tests/golden/codes.txt"), "utf8").match(/[A-Z][A-Z0-9_]+/g));
  const held = new Held(document, codes);
  const place = await Place.make(process.env.COMMIS ?? "");
  const as = (token = place.token, base = place.base) => createClient<paths>({ baseUrl: base, fetch: held.fetch, headers: { Authorization: `Bearer ${token}` } });
  const drive: Drive = { place, held, as };
  const parts = { daemon, recipes, runs, learning, browse, tasks, events, tokens, remote, matrix, ...(process.env.LONG ? { slowly } : {}), end, tight, guessed };
  try {
    place.start(SERVE);
    const served = await fetch(`${place.base}/api/openapi.json`, { headers: { Authorization: `Bearer ${place.token}` } });
    assert.deepEqual(await served.json(), document, "the daemon serves another document than the one that the types are made of");
    for (const [name, work] of Object.entries(parts)) {
      const [begun, before, wrong] = [performance.now(), held.figures.requests, held.faults.length];
      try {
        await soon(work(drive));
      } catch (error) {
        held.fault(`${name}: ${(error as Error).stack}`);
      }
      console.log(`${held.faults.length > wrong ? "no" : "ok"} ${name}: ${held.figures.requests - before} requests, ${((performance.now() - begun) / 1000).toFixed(1)} s`);
    }
  } finally {
    place.close();
  }
  const { never: all, unprovoked } = held.left();
  // A window for a person takes a display, which there is none of here: tests/it/watch.rs has one.
  // What a model does takes one, which tests/it/doing.rs and research.rs have.
  const windows = ["browse_handoff", "browse_resume", "task_answer", "run_get", "run_compare", "approval_get", "approval_approve", "approval_reject", "research"];
  // Watches run for a while beside the daemon: tests/it/watches.rs has them.
  const watches = ["watch_add", "watch_log", "watch_run", "watch_pause", "watch_remove"];
  const never = all.filter((it) => !windows.includes(it) && !watches.includes(it));
  if (never.length > 0) held.fault(`never answered well: ${never.join(", ")}`);
  if (unprovoked.length > 0) console.log(`-- declared and not provoked: ${unprovoked.join("; ")}`);
  const statuses = [...held.seen.values()].flatMap((it) => [...it.keys()]);
  console.log(`-- codes: ${[...held.codes].sort().map(([code, seen]) => `${code} ${[...seen].sort().join("/")}`).join(", ")}`);
  console.log(
    `contract: ${held.operations.length - never.length} of ${held.operations.length} operations answered well, ${held.figures.requests} requests, ` +
      `${new Set(statuses).size} statuses, ${held.codes.size} codes, ${held.figures.checks} checks, ${held.faults.length} wrong`,
  );
  // What did not end may be going on.
  process.exit(held.faults.length > 0 ? 1 : 0);
}

await main();
