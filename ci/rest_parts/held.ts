// What every answer is held to: the document says its status, its content type, its headers and its body, and nothing comes that it does not say.

import assert from "node:assert/strict";
import http from "node:http";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Fields = { [key: string]: Json };

const VERBS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];

export interface Operation {
  id: string;
  verb: string;
  path: string;
  like: RegExp;
  responses: Fields;
  /// Whether refusals are declared by their numbers; then `default` is for what is wrong with the daemon alone.
  numbered: boolean;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/// Header fields that every answer has.
const ALWAYS: [string, string][] = [
  ["cache-control", "no-store"],
  ["x-content-type-options", "nosniff"],
  ["x-frame-options", "DENY"],
];

export class Held {
  readonly operations: Operation[] = [];
  readonly faults: string[] = [];
  readonly figures = { requests: 0, checks: 0 };
  /// Statuses that were seen, by operation.
  readonly seen = new Map<string, Map<number, number>>();
  /// Codes of errors that were seen, with their statuses.
  readonly codes = new Map<string, Set<number>>();
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly ajv = new Ajv2020({ allErrors: true, strict: true, allowUnionTypes: true });

  constructor(
    private readonly document: Fields,
    private readonly known: Set<string>,
  ) {
    formats.default(this.ajv);
    this.ajv.addKeyword("components");
    for (const [path, item] of Object.entries(document.paths as Fields)) {
      for (const [verb, it] of Object.entries(item as Fields)) {
        if (!VERBS.includes(verb)) continue;
        const { operationId, responses } = it as { operationId: string; responses: Fields };
        const like = new RegExp(`^${path.replace(/\{[^}]+\}/g, "[^/]+")}$`);
        const numbered = Object.keys(responses).some((it) => /^4\d\d$/.test(it));
        this.operations.push({ id: operationId, verb, path, like, responses, numbered });
        this.seen.set(operationId, new Map());
      }
    }
  }

  fault(what: string): void {
    this.faults.push(what);
    console.log(`no ${what}`);
  }

  /// The operation that a request is for; what stands there as it is goes before what has parameters.
  find(verb: string, path: string): Operation | undefined {
    const there = this.operations.filter((it) => it.verb === verb && it.like.test(path));
    return there.find((it) => it.path === path) ?? there[0];
  }

  /// A fetch whose answers are looked at; a stream's body is left to whoever reads it.
  readonly fetch = async (request: Request): Promise<Response> => {
    const answer = await fetch(request);
    const kind = answer.headers.get("content-type") ?? "";
    const text = kind.startsWith("text/event-stream") ? "" : await answer.clone().text();
    this.look(request.method, new URL(request.url).pathname, { status: answer.status, headers: answer.headers, text });
    return answer;
  };

  /// A request as it is, such as no client makes it.
  async raw(base: string, method: string, path: string, headers: Record<string, string>, body?: string | Buffer): Promise<Answer> {
    const { hostname, port } = new URL(base);
    const answer = await new Promise<Answer>((done, failed) => {
      const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
      const request = http.request({ hostname, port, method, path, headers: { ...length, ...headers }, agent: false }, (it) => {
        const all = new Headers();
        for (const [name, value] of Object.entries(it.headers)) all.set(name, String(value));
        const parts: Buffer[] = [];
        it.on("data", (part: Buffer) => parts.push(part));
        it.on("end", () => done({ status: it.statusCode ?? 0, headers: all, text: Buffer.concat(parts).toString() }));
        it.on("error", failed);
      });
      request.on("error", failed);
      // One that is said to be longer goes on.
      if (headers["Content-Length"]) request.write(body);
      else request.end(body);
    });
    this.look(method, path.split("?")[0] ?? path, answer);
    return answer;
  }

  /// One answer against the document.
  look(method: string, path: string, answer: Answer): void {
    this.figures.requests += 1;
    const operation = this.find(method.toLowerCase(), path);
    const where = `${method} ${operation?.path ?? path}: ${answer.status}`;
    const hold = (holds: boolean, what: string) => {
      this.figures.checks += 1;
      if (!holds) this.fault(`${where}: ${what}: ${answer.text.slice(0, 300)}`);
    };
    hold(answer.status < 500, "something is wrong with the daemon");
    for (const [name, value] of ALWAYS) hold(answer.headers.get(name) === value, `${name} is ${answer.headers.get(name)}`);
    const kind = (answer.headers.get("content-type") ?? "").split(";")[0] ?? "";
    const response = operation ? this.response(operation, answer.status) : this.resolved({ $ref: "#/components/responses/Refused" });
    if (operation) {
      const seen = this.seen.get(operation.id);
      seen?.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
    }
    hold(response !== undefined, "a status that is not declared");
    const content = (response?.content ?? {}) as Fields;
    hold(kind in content, `a content type that is not declared: ${kind}`);
    for (const [name, it] of Object.entries((response?.headers ?? {}) as Fields)) {
      const wanted = it as { required?: boolean };
      hold(answer.headers.has(name) || wanted.required === false, `${name} is missing`);
    }
    if (kind !== "application/json") return;
    let body: Json;
    try {
      body = JSON.parse(answer.text);
    } catch {
      hold(false, "no JSON");
      return;
    }
    const schema = (content[kind] as Fields | undefined)?.schema as Fields | undefined;
    if (schema) {
      const key = operation ? `${operation.id} ${answer.status}` : "nothing";
      const fits = this.validator(key, schema);
      hold(Boolean(fits(body)), `the body: ${this.ajv.errorsText(fits.errors)}`);
    }
    this.envelope(body as Fields, answer, hold);
  }

  private envelope(body: Fields, answer: Answer, hold: (holds: boolean, what: string) => void): void {
    hold(body.ok === answer.status < 400, "`ok` and the status differ");
    if (answer.status === 202) {
      const id = (body.data as Fields | undefined)?.task_id;
      hold(answer.headers.get("location") === `/api/tasks/${String(id)}`, "Location is another task");
    }
    if (answer.status < 400) return;
    const error = (body.error ?? {}) as Fields;
    const code = String(error.error_code);
    hold(this.known.has(code), `${code} is no code`);
    this.codes.set(code, (this.codes.get(code) ?? new Set()).add(answer.status));
    const message = String(error.message);
    hold(message.length > 0 && !message.endsWith("."), "the message is no fragment");
    const after = answer.headers.get("retry-after");
    hold((after ?? undefined) === (error.retry_after_sec === undefined ? undefined : String(error.retry_after_sec)), "Retry-After is not `retry_after_sec`");
    if (answer.status === 401) hold(answer.headers.get("www-authenticate") === "Bearer", "WWW-Authenticate is missing");
    if (answer.status === 405) hold(Boolean(answer.headers.get("allow")), "Allow is missing");
    if (answer.status === 429) hold(error.retryable === true, "too many, and not retryable");
  }

  private response(operation: Operation, status: number): Fields | undefined {
    const range = `${Math.floor(status / 100)}XX`;
    // Of any address, whatever the document says of one.
    const always = status === 405 ? { $ref: "#/components/responses/Refused" } : undefined;
    const rest = operation.numbered && status < 500 ? always : operation.responses.default;
    const it = operation.responses[String(status)] ?? operation.responses[range] ?? (status >= 400 ? rest : undefined);
    return it === undefined ? undefined : this.resolved(it as Fields);
  }

  private resolved(it: Fields): Fields {
    const ref = it.$ref;
    if (typeof ref !== "string") return it;
    let out: Json = this.document;
    for (const part of ref.slice(2).split("/")) out = (out as Fields)[part.replace(/~1/g, "/").replace(/~0/g, "~")] as Json;
    assert.ok(out, ref);
    return this.resolved(out as Fields);
  }

  private validator(key: string, schema: Fields): ValidateFunction {
    const there = this.validators.get(key);
    if (there) return there;
    const made = this.ajv.compile({ allOf: [closed(schema)], components: closed(this.document.components as Fields) });
    this.validators.set(key, made);
    return made;
  }

  /// What was never answered well, and what of the declared refusals was never seen.
  left(): { never: string[]; unprovoked: string[] } {
    const never: string[] = [];
    const unprovoked: string[] = [];
    for (const it of this.operations) {
      const seen = [...(this.seen.get(it.id)?.keys() ?? [])];
      if (!seen.some((status) => status < 300)) never.push(it.id);
      const more = Object.keys(it.responses).filter((status) => /^\d+$/.test(status) && !seen.includes(Number(status)));
      if (more.length > 0) unprovoked.push(`${it.id} ${more.join(" ")}`);
    }
    return { never, unprovoked };
  }
}

/// The same schema without room for what it does not name: a field that an answer has and the document does not is a fault.
function closed<T extends Json>(schema: T): T {
  if (Array.isArray(schema)) return schema.map(closed) as unknown as T;
  if (schema === null || typeof schema !== "object") return schema;
  const out: Fields = {};
  for (const [name, it] of Object.entries(schema)) {
    out[name] = ["enum", "const", "default", "examples"].includes(name) ? it : closed(it);
  }
  const mixed = ["allOf", "anyOf", "oneOf", "$ref", "additionalProperties"].some((it) => it in out);
  if (out.type === "object" && typeof out.properties === "object" && !mixed) out.additionalProperties = false;
  return out as unknown as T;
}
