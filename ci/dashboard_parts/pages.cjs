// Pages that stand on disk, in Chromium: a batch's while it runs, is killed and gone on with; then each kind at two sizes, light and dark,
// held to axe-core's rules. Says what it looked at, and ends with 1 where something does not hold. `--pictures FOLDER` keeps pictures.
"use strict";

const { spawn, spawnSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");
const { chromium } = require("playwright-core");

const ROOT = path.resolve(__dirname, "../..");
const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const at = process.argv.indexOf("--pictures");
const PICTURES = at > 0 ? path.resolve(process.argv[at + 1]) : null;
const SIZES = [390, 1280];
const home = fs.mkdtempSync(path.join(os.tmpdir(), "commis-pages-"));

let faults = 0;
const fault = (what) => {
  faults += 1;
  console.error(`WRONG  ${what}`);
};
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));
const until = async (what, ms, there) => {
  for (const end = Date.now() + ms; Date.now() < end; await sleep(100)) if (await there()) return true;
  fault(`${what} did not come about in ${ms / 1000} s`);
  return false;
};

const commis = (args) => spawnSync(process.env.COMMIS, ["--home", home, ...args], { cwd: ROOT, encoding: "utf8" });
const LEARN = ["recipe", "learn-batch", "--manifest", "manifests/quickstart.yaml", "--testbed", "--jobs", "1", "--json"];

async function open(browser, file, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  const page = await context.newPage();
  page.on("pageerror", (it) => fault(`${file}: script: ${it.message}`));
  page.on("console", (it) => it.type() === "error" && fault(`${file}: console: ${it.text()}`));
  page.on("request", (it) => !/^(file|data):/.test(it.url()) && fault(`${file} asked for ${it.url()}`));
  await page.goto(pathToFileURL(file).href);
  return page;
}

/// While it goes on: read again by itself, with what a reader did to it; told interrupted when nobody writes it; alive again; ended.
async function follow(browser) {
  const file = path.join(home, "artifacts/batch_quickstart.html");
  const batch = spawn(process.env.COMMIS, ["--home", home, ...LEARN], { cwd: ROOT, stdio: "ignore" });
  await until("the page of a batch", 20_000, () => fs.existsSync(file));
  const page = await open(browser, file, {});
  let loads = 0;
  page.on("load", () => (loads += 1));
  const see = (what) => page.evaluate(what).catch(() => null);
  const state = () => see(() => document.getElementById("state").textContent);
  if ((await state()) !== "running") fault(`a batch that runs is ${await state()}`);
  await see(() => {
    document.querySelectorAll("details.task")[1].open = true;
    scrollTo(0, 400);
  });
  await until("a page read again twice", 15_000, () => loads > 1);
  const kept = await see(() => [Math.round(scrollY), document.querySelectorAll("details.task")[1].open]);
  if (String(kept) !== "400,true") fault(`after it was read again it stood at ${kept}`);
  if (PICTURES) await page.screenshot({ path: path.join(PICTURES, "batch-live.png"), fullPage: true });
  batch.kill("SIGKILL");
  await until("an interrupted batch", 40_000, async () => (await state()) === "interrupted");
  if (await see(() => document.getElementById("stale").hidden)) fault("it does not say that it was interrupted");
  if (PICTURES) await page.screenshot({ path: path.join(PICTURES, "batch-killed.png"), fullPage: true });
  const done = spawn(process.env.COMMIS, ["--home", home, ...LEARN, "--resume"], { cwd: ROOT, stdio: "ignore" });
  const over = new Promise((it) => done.on("exit", it));
  await until("a batch that goes on", 30_000, async () => (await state()) === "running");
  const code = await over;
  if (code !== 0) fault(`the batch ended with ${code}`);
  await until("the end of a batch", 15_000, async () => (await state()) === "ended");
  // The text may be read before the page counts as loaded.
  await page.waitForLoadState("load");
  const last = loads;
  await sleep(5_000);
  if (loads !== last) fault("a batch that has ended is still read again");
  await page.context().close();
  // Without a script it is read again all the same, and says what to think of an old page; the end says nothing of either.
  if (/http-equiv="refresh"|id="stale"/.test(fs.readFileSync(file, "utf8"))) fault("the last page is one of a batch that runs");
  return file;
}

async function look(browser, name, file) {
  for (const width of SIZES)
    for (const colorScheme of ["light", "dark"]) {
      const page = await open(browser, file, { viewport: { width, height: 900 }, colorScheme });
      const about = `${name} ${width} ${colorScheme}`;
      await page.evaluate(() => document.querySelectorAll("details").forEach((it, i) => (it.open = i < 12)));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (wide > 0) fault(`${about}: ${wide} px wider than the screen`);
      // The page's policy lets no script in but its own.
      const cdp = await page.context().newCDPSession(page);
      await cdp.send("Runtime.evaluate", { expression: AXE });
      const told = 'axe.run().then((it) => JSON.stringify(it.violations.map((it) => `${it.id}: ${it.nodes.slice(0, 2).map((it) => it.target)}`)))';
      const seen = await cdp.send("Runtime.evaluate", { expression: told, awaitPromise: true, returnByValue: true });
      for (const it of JSON.parse(seen.result.value)) fault(`${about}: ${it}`);
      if (PICTURES) await page.screenshot({ path: path.join(PICTURES, `${name}-${width}-${colorScheme}.png`), fullPage: true });
      await page.context().close();
    }
}

async function main() {
  if (PICTURES) fs.mkdirSync(PICTURES, { recursive: true });
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
  const pages = { batch: await follow(browser) };
  const tasks = fs.readdirSync(path.join(home, "artifacts")).filter((it) => /^(shop-search|store-order)-/.test(it));
  for (const it of tasks) pages[it.replace(/-[0-9a-f]{8}$/, "")] = path.join(home, "artifacts", it, "page.html");
  const corpus = path.join(home, "corpus");
  for (const it of ["shop-search", "basket-add", "news-search"]) fs.cpSync(path.join(ROOT, "corpus", it), path.join(corpus, it), { recursive: true });
  for (const [name, args] of [
    ["eval", ["eval", "--corpus", corpus, "--no-network"]],
    ["bench", ["bench", "--runs", "20"]],
  ]) {
    pages[name] = path.join(home, `${name}.html`);
    commis([...args, "--report", pages[name]]);
  }
  for (const [name, file] of Object.entries(pages)) {
    if (fs.existsSync(file)) await look(browser, name, file);
    else fault(`there is no page of ${name}`);
  }
  await browser.close();
  console.error(`${Object.keys(pages).length} pages on disk, ${faults} wrong`);
}

main()
  .catch((it) => fault(it.stack))
  .finally(() => {
    fs.rmSync(home, { recursive: true, force: true });
    process.exit(faults ? 1 : 0);
  });
