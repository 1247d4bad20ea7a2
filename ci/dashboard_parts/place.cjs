// A home of its own, with a daemon, the test web, a site that answers with texts which want to be more, and things to look at.
"use strict";

const { execFileSync, spawn, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const http = require("node:http");
const os = require("node:os");
const path = require("node:path");
const readline = require("node:readline");

const COMMIS = path.resolve(process.env.COMMIS);
const ROOT = path.resolve(__dirname, "../..");
const SHARED = process.env.COMMIS_SHARED ?? path.join(ROOT, "../shared");

/// The seeds of stored texts (OWASP and others), from the shared vectors where they are here.
function seeds() {
  const file = path.join(SHARED, "vectors/local_server.json");
  if (fs.existsSync(file)) {
    const all = JSON.parse(fs.readFileSync(file, "utf8"));
    return all.filter((it) => it.group === "stored-xss").map((it) => it.request.seed);
  }
  console.error("the shared vectors are not here: a few seeds of our own");
  return ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "javascript:alert(1)", "<svg onload=alert(1)>", "\u202egpj.exe", "\ud800"];
}

/// A lone surrogate is no character, and no JSON that the daemon takes.
const isText = (it) => it.isWellFormed?.() ?? !/[\ud800-\udfff]/.test(it.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ""));

async function place() {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "commis-dashboard-"));
  const run = (...args) => execFileSync(COMMIS, ["--home", home, ...flags, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  const config = (more = "") =>
    fs.writeFileSync(
      path.join(home, "config.toml"),
      `[serve]\nrest_per_minute = 60000\nrest_burst = 10000\nrun_per_minute = 6000\nrun_burst = 1000\nidle_minutes = 0\nstreams = 20\n${more}`,
    );
  config();

  // The test web, until its standard input is gone with us.
  const web = spawn(COMMIS, ["--home", home, "testbed", "serve", "--port", "0", "--ca", path.join(home, "ca.pem")], { stdio: ["ignore", "pipe", "ignore"] });
  const lines = readline.createInterface({ input: web.stdout });
  const flags = await new Promise((done) => {
    const found = [];
    lines.on("line", (line) => {
      const [flag, value] = line.split(/\s+(.*)/);
      if (flag === "--test-host" && value.startsWith("*.test")) found.push(flag, value);
      if (flag === "--test-ca") done([...found, flag, value]);
    });
  });

  // The site of the seeds.
  const rows = seeds().map((seed, i) => ({ id: i, name: seed, url: seed, [isText(seed) ? seed : "odd"]: { deep: [seed] } }));
  const evil = http.createServer((request, answer) => {
    if (request.url.startsWith("/gone")) {
      answer.writeHead(404).end("gone");
      return;
    }
    const body = request.url.startsWith("/odd") ? '{"items": [{"name": "\\ud800"}]}' : JSON.stringify({ items: rows.filter((it) => isText(it.name)) });
    answer.writeHead(200, { "Content-Type": "application/json" }).end(body);
  });
  await new Promise((done) => evil.listen(0, "127.0.0.1", done));
  flags.push("--test-host", `evil.test=127.0.0.1:${evil.address().port}`);

  const recipe = (name, fields) => {
    const it = {
      version: 1,
      name,
      task: "Look at what evil.test says about {query}",
      status: "draft",
      source_url: "http://evil.test/",
      parameters: [{ name: "query", type: "str", required: true, source: "task_input", examples: ["x"] }],
      request: { method: "GET", url: "http://evil.test/api", query: [{ name: "q", value: "{query}" }], allowed_domains: ["evil.test"] },
      response: { type: "json", extract: "items" },
      ...fields,
    };
    fs.mkdirSync(path.join(home, "recipes"), { recursive: true, mode: 0o700 });
    // JSON is YAML.
    fs.writeFileSync(path.join(home, "recipes", `${name}.yaml`), JSON.stringify(it), { mode: 0o600 });
    // What a file says of its proof counts once somebody stands for it.
    if (it.status !== "draft") {
      const shown = spawnSync(COMMIS, ["--home", home, "recipe", "trust", name], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).stderr;
      run("recipe", "trust", name, "--digest", /^digest: ([0-9a-f]{64})$/m.exec(shown)[1]);
    }
  };
  const proof = { fingerprint_version: 1, fingerprint_sha256: "5".repeat(64), verified_at: "2026-01-01T00:00:00Z", transport: "public_http", requires_session: false };
  const texts = seeds().filter(isText);
  const plant = () => {
    recipe("hostile", {
      task: `${texts.filter((it) => !it.includes("{")).join(" ")} {query}`,
      category: texts[1],
      source_url: `http://evil.test/?x=${texts[1]}`,
      parameters: [{ name: "query", type: "str", required: true, source: "task_input", examples: texts, default: null }],
    });
    recipe("hostile-odd", { request: { method: "GET", url: "http://evil.test/odd", allowed_domains: ["evil.test"] }, parameters: [], task: "Look at what is no character" });
    // What follows pages of a list that only a login sees.
    recipe("paged", {
      version: 2,
      task: "Look at all pages of {query}",
      request: { method: "GET", url: "http://evil.test/api", query: [{ name: "q", value: "{query}" }, { name: "page", value: "1" }], allowed_domains: ["evil.test"] },
      login: { site: "evil.test", stranger: "refused" },
      pages: { by: "page", parameter: "page", first: 1, ends: ["empty"], key: "id", seen: { pages: 3, items: 50 } },
    });
    recipe("gone", { request: { method: "GET", url: "http://evil.test/gone", allowed_domains: ["evil.test"] }, parameters: [], task: "Look at what is gone" });
    recipe("drifted", { status: "deprecated", demotion: { reason: "drift", at: "2026-11-20T00:00:00Z" }, verification: proof, task: "Look at what changed since" });
  };

  run("daemon", "start");
  const state = JSON.parse(fs.readFileSync(path.join(home, "serve/daemon.json"), "utf8"));
  const base = `http://127.0.0.1:${state.port}`;
  const api = async (method, address, body) => {
    const headers = { Authorization: `Bearer ${state.token}`, "Content-Type": "application/json" };
    const answer = await fetch(base + address, { method, headers, body: typeof body === "string" ? body : body && JSON.stringify(body) });
    return { status: answer.status, ...(await answer.json()) };
  };
  const ended = async (id) => {
    for (;;) {
      const task = (await api("GET", `/api/tasks/${id}`)).data;
      if (!["queued", "running"].includes(task.state)) return task;
      await new Promise((done) => setTimeout(done, 100));
    }
  };
  const shop = (name, more = {}) => ({
    task: "Search the shop for {query} and list the products with their prices",
    url: "https://shop.test/",
    params: { query: "lantern" },
    second: { query: "garden hose" },
    name,
    steps: [
      { fill: { role: "searchbox", name: "Search products", value: "{query}" } },
      { press: "Enter" },
      { wait_for: { text: "results for {query}" } },
    ],
    ...more,
  });
  /// Days before today, as if runs had been made then.
  const past = (name, days) => {
    const script = [
      "import json, sqlite3, sys, time",
      "db = sqlite3.connect(sys.argv[1], timeout=10)",
      "today = int(time.time() // 86400)",
      "for back, ok, failed in json.loads(sys.argv[3]):",
      "    db.execute('INSERT OR REPLACE INTO health_days VALUES (?, ?, ?, ?, ?)', (sys.argv[2], 'user', today - back, ok, failed))",
      "sums = db.execute('SELECT sum(ok), sum(failed) FROM health_days WHERE name = ?', sys.argv[2:3]).fetchone()",
      "db.execute('UPDATE health SET ok = ?1, failed = ?2, runs = ?1 + ?2 WHERE name = ?3', (*sums, sys.argv[2]))",
      "db.commit()",
    ].join("\n");
    execFileSync("python3", ["-c", script, path.join(home, "artifacts/state.db"), name, JSON.stringify(days)]);
  };
  const close = () => {
    try {
      run("daemon", "stop");
    } finally {
      web.kill();
      evil.close();
      evil.closeAllConnections();
      fs.rmSync(home, { recursive: true, force: true });
    }
  };
  // Where the test web's names lead, for a browser of one's own.
  const web_port = flags.find((it) => it.startsWith("*.test=")).split(":").at(-1);
  return { home, base, web_port, api, ended, shop, past, plant, texts, config, code: () => run("dashboard").trim(), close };
}

module.exports = { place, ROOT };
