// The steps of ci/rest: the document as a daemon serves it, its lints, types of it, the contract that they are held to; the long form.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { Place, UNLIMITED } from "./place.mjs";

const PARTS = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.resolve(PARTS, "../..");
const TOOLS = process.env.TOOLS;
const LONG = process.argv.includes("--long");
const COMMIS = path.resolve(process.env.COMMIS);
const REFERENCE = path.join(ROOT, "docs/reference/openapi.json");
/// Requests that the long form makes at least.
const MANY = 2000;

const bin = (name) => path.join(TOOLS, "node_modules/.bin", name);
const env = { ...process.env, ROOT, COMMIS, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true", NO_COLOR: "1", LONG: LONG ? "1" : "" };
let failed = 0;

/// Runs a program; what it says is shown when it fails, or always.
function run(command, args, { cwd = ROOT, show = false, fatal = false } = {}) {
  const name = path.basename(command === process.execPath ? args[0] : command);
  return new Promise((done, stop) => {
    const it = spawn(command, args, { cwd, env, stdio: ["ignore", show ? "inherit" : "pipe", show ? "inherit" : "pipe"] });
    let said = "";
    it.stdout?.on("data", (part) => (said += part));
    it.stderr?.on("data", (part) => (said += part));
    it.on("error", stop);
    it.on("close", (code) => {
      if (code !== 0) {
        failed += 1;
        console.log(`no ${name} ended with ${code}\n${said}`);
        if (fatal) return stop(new Error("there is nothing to go on with"));
      }
      done(said);
    });
  });
}

async function step(name, work) {
  const begun = performance.now();
  const more = await work();
  console.log(`-- ${((performance.now() - begun) / 1000).toFixed(1)} s: ${name}${more ? `: ${more}` : ""}`);
}

/// The document that a daemon serves; it is the one in docs/reference, but for the version, which is the program's.
async function served() {
  const place = await Place.make(COMMIS);
  try {
    place.start(UNLIMITED);
    const answer = await fetch(`${place.base}/api/openapi.json`, { headers: { Authorization: `Bearer ${place.token}` } });
    const document = await answer.json();
    const written = JSON.parse(fs.readFileSync(REFERENCE, "utf8"));
    written.info.version = document.info.version;
    try {
      assert.deepEqual(document, written);
    } catch (error) {
      failed += 1;
      console.log(`no the daemon serves another document than docs/reference/openapi.json\n${error.message}`);
    }
    return document;
  } finally {
    place.close();
  }
}

/// Requests that are made of the document, by the thousand.
async function generated(document) {
  const python = path.join(process.env.VENV, "bin");
  const place = await Place.make(COMMIS);
  const out = fs.mkdtempSync(path.join(TOOLS, "long-"));
  try {
    place.start(`${UNLIMITED}queue = 100000\nwork_at_once = 2\n`);
    await run(path.join(python, "openapi-spec-validator"), [document]);
    const args = ["run", document, "--url", place.base, "-H", `Authorization: Bearer ${place.token}`];
    // The end of the daemon is in contract.ts, and so are streams, which have no end.
    for (const it of ["shutdown", "events", "task_events"]) args.push("--exclude-operation-id", it);
    const said = await run(path.join(python, "schemathesis"), ["--config-file", path.join(PARTS, "schemathesis.toml"), ...args, "--report-dir", out], { cwd: out });
    const report = JSON.parse(fs.readFileSync(path.join(out, fs.readdirSync(out).find((it) => it.endsWith(".json"))), "utf8"));
    const { generated: made, with_failures: wrong } = report.test_cases;
    if (made < MANY || !place.lives()) {
      failed += 1;
      console.log(`no ${made} requests, the daemon ${place.lives() ? "lives" : "is gone"}\n${said.slice(-2000)}`);
    }
    return `${made} requests of ${report.operations.tested} operations, ${wrong} answers wrong`;
  } finally {
    place.close();
    fs.rmSync(out, { recursive: true, force: true });
  }
}

async function main() {
  // Below the packages, where they are found.
  const work = fs.mkdtempSync(path.join(TOOLS, "work-"));
  const file = path.join(work, "document.json");
  try {
    await step("the document", async () => fs.writeFileSync(file, JSON.stringify(await served(), null, 2)));
    await step("lints and types", async () => {
      for (const it of fs.readdirSync(PARTS)) fs.copyFileSync(path.join(PARTS, it), path.join(work, it));
      fs.writeFileSync(path.join(work, "package.json"), '{"type": "module"}');
      const types = async () => {
        await run(bin("openapi-typescript"), [file, "-o", path.join(work, "api.d.ts")], { fatal: true });
        await run(process.execPath, [path.join(TOOLS, "node_modules/tsc/bin/tsc"), "-p", work], { fatal: true });
      };
      await Promise.all([run(bin("redocly"), ["lint", "--config", path.join(PARTS, "redocly.yaml"), file]), types()]);
    });
    await step("the contract", () => run(process.execPath, ["out/contract.js"], { cwd: work, show: true }));
    if (LONG) await step("generated requests", () => generated(file));
  } catch (error) {
    failed += 1;
    console.log(`no ${error.message}`);
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
  console.log(failed > 0 ? "rest: something does not hold" : "rest: all of it holds");
  process.exitCode = failed > 0 ? 1 : 0;
}

await main();
