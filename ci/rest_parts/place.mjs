// A home of its own: a daemon, the test web, a site that answers, one that never does, and recipes for both.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";

/** Nothing here is about how often who may ask; what is says so itself. */
export const UNLIMITED = `rest_per_minute = 1000000
rest_burst = 1000000
run_per_minute = 1000000
run_burst = 1000000
`;

/** What a page that stays is tried on. */
const PARTS = `<!doctype html><title>Parts</title><label>Size <select><option>S<option>M</select></label>
<label>Extras <select multiple><option selected>Wrap<option>Card</select></label>
<label><input type="checkbox"> Gift</label> <button onclick="confirm('sure?')">Ask</button>`;

export class Place {
  /** @param {string} commis the program */
  constructor(commis) {
    this.commis = commis;
    this.home = fs.mkdtempSync(path.join(os.tmpdir(), "commis-rest-"));
    /** @type {string[]} */
    this.flags = [];
    /** @type {import("node:http").Server | null} */
    this.site = null;
    /** @type {import("node:net").Server | null} */
    this.silent = null;
    /** @type {import("node:child_process").ChildProcess | null} */
    this.web = null;
    this.base = "";
    this.token = "";
    this.pid = 0;
  }

  /** @param {string} commis */
  static async make(commis) {
    const it = new Place(commis);
    try {
      await it.sites();
    } catch (error) {
      it.close();
      throw error;
    }
    it.recipe("site", "site.test", "/items");
    it.recipe("gone", "site.test", "/gone");
    it.recipe("silent", "silent.test", "/items");
    it.recipe("inside", "127.0.0.1", "/items");
    // As if they had been proven: what was there is not any more.
    const verification = { fingerprint_version: 1, fingerprint_sha256: "5".repeat(64), verified_at: "2026-01-01T00:00:00Z", transport: "public_http", requires_session: false };
    const proven = { status: "verified", verification };
    it.recipe("lost", "site.test", "/gone", proven);
    it.recipe("quiet", "silent.test", "/items", proven);
    // Its key is in no variable.
    it.recipe("keyed", "site.test", "/items", { ...proven, auth: { type: "api_key", header: "x-api-key", env: "COMMIS_AUTH_SITE_TEST" } });
    return it;
  }

  async sites() {
    // The test web ends with its standard input, and so with us. Its name server knows forbidden addresses alone, so nothing
    // that a generated request names is looked for outside.
    const web = spawn(this.commis, ["--home", this.home, "testbed", "serve", "--port", "0", "--dns", "0", "--until-eof", "--ca", path.join(this.home, "ca.pem")], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.web = web;
    for await (const line of readline.createInterface({ input: web.stdout })) {
      const [flag = "", value = ""] = line.split(/\s+(.*)/);
      if (flag.startsWith("--") && !value.includes("wild.test") && !value.includes("away.test")) this.flags.push(flag, value);
      if (flag === "--test-ca") break;
    }
    const site = http.createServer((request, answer) => {
      const at = new URL(request.url ?? "/", "http://site.test/");
      if (at.pathname === "/parts") {
        answer.writeHead(200, { "Content-Type": "text/html" }).end(PARTS);
        return;
      }
      if (at.pathname !== "/items") {
        answer.writeHead(404).end("gone");
        return;
      }
      const q = at.searchParams.get("q") ?? "";
      const items = ["a lamp", "a rope", "a tent"].map((name, i) => ({ id: i + 1, name: `${q}: ${name}`, price: 5 + i }));
      answer.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify({ items }));
    });
    const silent = net.createServer(() => {});
    this.site = site;
    this.silent = silent;
    for (const [host, it] of /** @type {[string, net.Server][]} */ ([["site.test", site], ["silent.test", silent]])) {
      await new Promise((done) => it.listen(0, "127.0.0.1", () => done(null)));
      const at = /** @type {net.AddressInfo} */ (it.address());
      this.flags.push("--test-host", `${host}=127.0.0.1:${at.port}`);
    }
  }

  /** @param {string} name @param {string} host @param {string} where @param {object} [more] */
  recipe(name, host, where, more) {
    const it = {
      version: 1,
      name,
      task: `Look for {q} at the place called ${name}`,
      status: "draft",
      source_url: `http://${host}/`,
      parameters: [{ name: "q", type: "str", required: true, source: "task_input", examples: ["lamp", "rope"] }],
      request: { method: "GET", url: `http://${host}${where}`, query: [{ name: "q", value: "{q}" }], allowed_domains: [host] },
      response: { type: "json", extract: "items" },
      ...more,
    };
    fs.mkdirSync(path.join(this.home, "recipes"), { recursive: true, mode: 0o700 });
    // JSON is YAML.
    fs.writeFileSync(path.join(this.home, "recipes", `${name}.yaml`), JSON.stringify(it), { mode: 0o600 });
    // What a file says of its proof counts once somebody stands for it.
    if (it.status !== "draft") {
      const shown = spawnSync(this.commis, ["--home", this.home, "recipe", "trust", name], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).stderr;
      this.run("recipe", "trust", name, "--digest", /^digest: ([0-9a-f]{64})$/m.exec(shown)?.[1] ?? "");
    }
  }

  /** @param {string} serve settings of the daemon @param {string} [more] other tables */
  config(serve, more = "") {
    fs.writeFileSync(path.join(this.home, "config.toml"), `[browse]\nallow_js = true\nuploads = [${JSON.stringify(this.home)}]\n[serve]\nidle_minutes = 0\n${serve}${more}`);
  }

  /** @param {string} serve */
  start(serve) {
    this.config(serve);
    this.run("daemon", "start");
    const state = JSON.parse(fs.readFileSync(path.join(this.home, "serve/daemon.json"), "utf8"));
    this.base = `http://127.0.0.1:${state.port}`;
    this.token = state.token;
    this.pid = state.pid;
  }

  /** @param {string[]} args */
  run(...args) {
    return execFileSync(this.commis, ["--home", this.home, ...this.flags, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  }

  lives() {
    try {
      // A process that ended and that nobody has asked about yet is still there, as a zombie.
      return !/^State:\s+Z/m.test(fs.readFileSync(`/proc/${this.pid}/status`, "utf8"));
    } catch {
      return false;
    }
  }

  stop() {
    if (this.pid) this.run("daemon", "stop");
    this.pid = 0;
  }

  close() {
    try {
      this.stop();
    } finally {
      this.web?.stdin?.end();
      this.site?.close();
      this.site?.closeAllConnections();
      this.silent?.close();
      this.silent?.unref();
      fs.rmSync(this.home, { recursive: true, force: true });
    }
  }
}
