// Drives the dashboard in Chromium; says what it looked at, and ends with 1 where something does not hold.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const http = require("node:http");
const path = require("node:path");
const { chromium } = require("playwright-core");
const { learnHere, chooseHere } = require("./learn.cjs");
const { place, ROOT } = require("./place.cjs");

const AXE = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
const at = process.argv.indexOf("--pictures");
const PICTURES = at > 0 ? path.resolve(process.argv[at + 1]) : null;
const LOOKS = [
  { name: "390-light", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { name: "390-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
  { name: "1280-light", viewport: { width: 1280, height: 800 }, colorScheme: "light" },
  { name: "1280-dark", viewport: { width: 1280, height: 800 }, colorScheme: "dark" },
];

const wrong = [];
const figures = { pages: 0, violations: 0 };
const fault = (what) => {
  wrong.push(what);
  console.error(`WRONG  ${what}`);
};
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/// A tab that tells on itself: what is said on the console, dialogs, refusals by the page's policy.
async function tab(browser, look) {
  const context = await browser.newContext({ ...look, name: undefined, reducedMotion: "reduce" });
  const page = await context.newPage();
  page.expected = null;
  page.on("console", (it) => {
    if (it.type() === "error" && !(page.expected && page.expected.test(it.text()))) fault(`${look.name} ${page.url()}: console: ${it.text()}`);
  });
  page.on("pageerror", (it) => fault(`${look.name} ${page.url()}: script: ${it.message}`));
  page.on("dialog", (it) => {
    fault(`${look.name} ${page.url()}: a dialog: ${it.message()}`);
    it.dismiss();
  });
  page.on("request", (it) => {
    if (!it.url().startsWith("http://127.0.0.1:") && !it.url().startsWith("data:")) fault(`${page.url()} asked for ${it.url()}`);
  });
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (it) => console.error(`policy: ${it.violatedDirective} ${it.blockedURI}`));
  });
  return page;
}

async function enter(page, home) {
  await page.goto(home.code());
  await page.waitForSelector("main[data-signed]");
  assert.equal(new URL(page.url()).hash, "");
  assert.equal(new URL(page.url()).search, "");
}

/// What holds of every page.
async function look(page, name) {
  figures.pages += 1;
  const where = `${name} ${new URL(page.url()).pathname}`;
  const seen = await page.evaluate(() => ({
    over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    headings: document.querySelectorAll("h1").length,
    scripts: [...document.scripts].map((it) => it.getAttribute("src")),
    inline: document.querySelectorAll("[style], style, iframe, object, embed, svg[onload], img:not([src='/assets/icon.svg'], [data-picture])").length,
    handlers: [...document.querySelectorAll("*")].filter((it) => [...it.attributes].some((a) => a.name.startsWith("on"))).length,
    links: [...document.querySelectorAll("a")].filter((it) => !["http:", "https:"].includes(it.protocol)).map((it) => it.href),
    away: [...document.querySelectorAll("a")].filter((it) => it.origin !== location.origin && it.rel !== "noreferrer noopener").map((it) => it.href),
    strange: /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(document.documentElement.outerHTML),
  }));
  const expected = { over: 0, headings: 1, scripts: ["/assets/app.js"], inline: 0, handlers: 0, links: [], away: [], strange: false };
  try {
    assert.deepEqual({ ...seen, over: Math.max(0, seen.over) }, expected);
  } catch {
    fault(`${where}: ${JSON.stringify(seen)}`);
  }
  // By the inspector, which the page's policy is not for.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  figures.violations += violations.length;
  for (const it of violations) {
    fault(`${where}: axe: ${it.id}: ${it.nodes.slice(0, 2).map((node) => `${node.html.slice(0, 160)} ${node.failureSummary.slice(0, 200)}`).join("; ")}`);
  }
}

async function picture(page, name, options = {}) {
  if (!PICTURES) return;
  fs.mkdirSync(PICTURES, { recursive: true });
  await page.screenshot({ path: path.join(PICTURES, `${name}.png`), ...options });
}

async function part(name, work) {
  const begun = Date.now();
  try {
    await work();
    console.error(`${((Date.now() - begun) / 1000).toFixed(1)} s: ${name}`);
  } catch (error) {
    fault(`${name}: ${error.stack}`);
  }
}

async function main() {
  const home = await place();
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM });
  const wide = LOOKS[2];
  try {
    await part("the door", async () => {
      const page = await tab(browser, wide);
      await page.goto(home.base);
      await page.getByText("commis dashboard").waitFor();
      await look(page, "closed");
      page.expected = /401/;
      await page.goto(`${home.base}/tasks`);
      assert.match(await page.textContent("h1"), /closed/);
      await look(page, "closed");
      page.expected = null;
      const address = home.code();
      await page.goto(address);
      await page.waitForSelector("main[data-signed]");
      const cookies = await page.context().cookies();
      assert.deepEqual(cookies.map((it) => [it.name.replace(/-\d+$/, "-PORT"), it.httpOnly, it.sameSite]), [["commis-PORT", true, "Strict"]]);
      // The code is used up.
      const other = await tab(browser, wide);
      other.expected = /401/;
      await other.goto(address);
      await other.getByText("The dashboard is closed").waitFor();
      await look(other, "used code");
      // A new code in an open tab.
      await other.goto(home.code());
      await other.waitForSelector("main[data-signed]");
      await other.context().close();
      await page.context().close();
    });

    await part("empty pages", async () => {
      for (const it of LOOKS) {
        const page = await tab(browser, it);
        await enter(page, home);
        for (const address of ["/", "/tasks", "/tasks?state=failed", "/approvals", "/browser", "/recipes?q=nothingislikethis"]) {
          await page.goto(home.base + address);
          await look(page, it.name);
        }
        await page.context().close();
      }
    });

    let learned = null;
    await part("a task, live", async () => {
      const page = await tab(browser, wide);
      await enter(page, home);
      await page.locator(".live.on").waitFor();
      await page.evaluate(() => (globalThis.sameDocument = true));
      learned = (await home.api("POST", "/api/recipes/learn", home.shop("shop-search"))).data.task_id;
      await page.locator(`#now [data-task="${learned}"] progress`).waitFor({ timeout: 10_000 });
      const values = new Set();
      const bar = page.locator(`#now [data-task="${learned}"] progress`);
      while ((await bar.count()) > 0) {
        values.add(await bar.first().evaluate((it) => it.value, null, { timeout: 500 }).catch(() => 0));
        await sleep(60);
      }
      await page.locator(`#recent [data-task="${learned}"] .badge.good`).waitFor();
      assert.equal(await page.evaluate(() => globalThis.sameDocument), true);
      assert.ok(values.size >= 2, `progress was seen at ${[...values]}`);
      await page.waitForFunction(() => document.getElementById("said").textContent.includes("done"), null, { timeout: 10_000 });
      assert.equal((await home.ended(learned)).state, "done");
      await page.context().close();
    });

    await part("a stream that ends is taken up again", async () => {
      const page = await tab(browser, wide);
      const asked = [];
      await enter(page, home);
      await page.route("**/api/events", async (route) => {
        asked.push(route.request().headers()["last-event-id"]);
        assert.ok(!route.request().url().includes("?"));
        if (asked.length > 1) return route.continue();
        await route.fulfill({ status: 200, contentType: "text/event-stream", body: ": here\n\nid: 7\nevent: recipe\ndata: {}\n\n" });
      });
      await page.goto(`${home.base}/`);
      const after = await page.getAttribute("meta[name=after]", "content");
      while (asked.length < 2) await sleep(50);
      assert.deepEqual(asked, [after, "7"]);
      await page.locator(".live.on").waitFor();
      await page.context().close();
    });

    await part("a task cancelled", async () => {
      const page = await tab(browser, wide);
      await enter(page, home);
      const slow = home.shop("slow", { force: true, steps: [{ wait_for: { text: "what never comes" } }] });
      const id = (await home.api("POST", "/api/recipes/learn", slow)).data.task_id;
      await page.goto(`${home.base}/tasks/${id}`);
      await page.locator("#state .badge.now").waitFor();
      await page.getByRole("button", { name: "Cancel this task" }).click();
      await look(page, "dialog");
      assert.equal(await page.evaluate(() => document.activeElement.textContent), "Let it go on");
      await page.keyboard.press("Escape");
      assert.equal(await page.locator("dialog[open]").count(), 0);
      assert.equal(await page.evaluate(() => document.activeElement.textContent), "Cancel this task");
      await page.keyboard.press("Enter");
      await page.keyboard.press("Tab");
      await page.keyboard.press("Enter");
      await page.locator("#state").getByText("cancelled").waitFor();
      await page.locator("#cancel").waitFor({ state: "detached" });
      assert.equal((await home.ended(id)).state, "cancelled");
      await page.context().close();
    });

    await part("a page that stays, looked on at", async () => {
      const browse = async (command, args) => {
        const it = await home.api("POST", `/api/browse/${command}`, { context: "shop", ...args });
        assert.equal(it.status, 200, JSON.stringify(it));
        return it.data;
      };
      const kept = await home.api("POST", "/api/sessions/record", { context: "shop", name: "<b>Search</b> & look", url: "http://shop.test/" });
      assert.equal(kept.status, 200, JSON.stringify(kept));
      for (const it of LOOKS) {
        const page = await tab(browser, it);
        await enter(page, home);
        await page.goto(`${home.base}/browser`);
        await look(page, it.name);
        // By the keyboard alone.
        await page.getByRole("link", { name: "shop", exact: true }).focus();
        await page.keyboard.press("Enter");
        await page.locator(".live.on").waitFor();
        await page.waitForFunction(() => document.querySelector("img[data-picture]").naturalWidth > 100);
        const first = await page.locator("img[data-picture]").getAttribute("src");
        await browse("fill", { target: 'searchbox "Search products"', value: "lantern" });
        await browse("press", { key: "Enter" });
        await page.locator("#events [data-kind=done]").filter({ hasText: "pressed Enter" }).waitFor();
        assert.ok((await page.locator("#events [data-kind=request]").count()) > 0);
        await page.waitForFunction((was) => document.querySelector("img[data-picture]").getAttribute("src") !== was, first);
        await look(page, it.name);
        await picture(page, `browser-live-${it.name}`);
        await page.goto(`${home.base}/browser/sessions/${kept.data.id}`);
        await look(page, it.name);
        assert.equal(await page.textContent("h1"), "<b>Search</b> & look");
        await picture(page, `browser-session-${it.name}`);
        await page.context().close();
      }
      // Who may look at this page alone, and then no longer.
      const made = await home.api("POST", "/api/browse/watch", { context: "shop" });
      const page = await tab(browser, LOOKS[1]);
      await page.goto(made.data.url);
      await page.locator(".live.on").waitFor();
      assert.equal(page.url(), `${home.base}/watch`);
      await look(page, "watched");
      page.expected = /401/;
      assert.equal((await page.goto(`${home.base}/browser`)).status(), 401);
      page.expected = null;
      await page.goto(`${home.base}/watch`);
      await page.locator(".live.on").waitFor();
      await browse("close", {});
      await page.locator("#events [data-kind=closed]").waitFor();
      await page.context().close();
    });

    await part("pages of strangers read nothing and change nothing", async () => {
      const state = async () => {
        const [tasks, recipes, tokens] = await Promise.all(["/api/tasks?limit=1000", "/api/recipes", "/api/tokens"].map((it) => home.api("GET", it)));
        return JSON.stringify([tasks.data, recipes.data, tokens.data]);
      };
      const before = await state();
      const other = http.createServer((request, answer) => answer.writeHead(200, { "Content-Type": "text/html" }).end("<title>stranger</title><body>"));
      await new Promise((done) => other.listen(0, "127.0.0.1", done));
      const port = new URL(home.base).port;
      const stranger = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--host-resolver-rules=MAP rebound.test 127.0.0.1"] });
      const context = await stranger.newContext();
      // The person has the dashboard open in the same browser.
      const page = await context.newPage();
      await enter(page, home);
      const attempts = async (hosts) => {
        const read = [];
        const one = async (base, method, address, body, more) => {
          try {
            const answer = await fetch(base + address, { method, body, ...more, signal: AbortSignal.timeout(1500) });
            const text = answer.type === "opaque" ? "" : await answer.text();
            if (answer.ok && text) read.push(`${method} ${base}${address}: ${text.slice(0, 40)}`);
          } catch {}
        };
        for (const base of hosts) {
          const all = [];
          for (const [method, address, body] of [
            ["GET", "/api/recipes"], ["GET", "/"], ["GET", "/health"],
            ["POST", "/api/recipes/learn", '{"task": "t", "url": "http://evil.test/"}'], ["POST", "/api/tokens", '{"can": ["run:*"]}'],
            ["POST", "/api/shutdown", "{}"], ["DELETE", "/api/recipes/shop-search"], ["POST", "/mcp", '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'],
          ]) {
            for (const more of [{}, { mode: "no-cors" }, { credentials: "include" }, { credentials: "include", headers: { "Content-Type": "application/json", "X-CSRF": "guess" } }]) {
              if (!more.mode || method !== "DELETE") all.push(one(base, method, address, body, more));
            }
          }
          await Promise.all(all);
          for (const [name, attribute] of [["img", "src"], ["script", "src"], ["iframe", "src"], ["link", "href"]]) {
            const it = document.createElement(name);
            it.setAttribute(attribute, `${base}/api/recipes`);
            document.body.append(it);
          }
          const form = Object.assign(document.createElement("form"), { method: "POST", action: `${base}/api/shutdown`, target: "sink", enctype: "text/plain" });
          const frame = Object.assign(document.createElement("iframe"), { name: "sink" });
          document.body.append(frame, form);
          form.submit();
          await new Promise((done) => {
            const socket = new WebSocket(`${base.replace("http", "ws")}/ws`);
            socket.onopen = () => { read.push("a socket"); done(); };
            socket.onerror = () => done();
          });
          await new Promise((done) => setTimeout(done, 300));
          for (const it of document.querySelectorAll("iframe")) {
            try {
              const text = it.contentDocument?.body?.textContent;
              if (text) read.push(`a frame: ${text.slice(0, 40)}`);
            } catch {}
          }
        }
        return read;
      };
      for (const host of ["127.0.0.1", "localhost"]) {
        const tab = await context.newPage();
        await tab.goto(`http://${host}:${other.address().port}/`);
        assert.deepEqual(await tab.evaluate(attempts, [`http://127.0.0.1:${port}`, `http://localhost:${port}`]), [], host);
      }
      // A name that led elsewhere when the page was loaded, and leads here now.
      const tab = await context.newPage();
      const answer = await tab.goto(`http://rebound.test:${port}/`);
      assert.equal(answer.status(), 403);
      assert.deepEqual(await tab.evaluate(attempts, [""].map(() => `http://rebound.test:${port}`)), []);
      assert.equal(await state(), before);
      await stranger.close();
      other.close();
    });

    const driving = { home, browser, tab: (it) => tab(browser, it), enter, look, picture, LOOKS };
    await part("learning begun here, from a page and from a HAR file", () => learnHere(driving));

    const ids = { learned };
    await part("things to look at", async () => {
      home.plant();
      for (const [i, seed] of home.texts.entries()) {
        const made = await home.api("POST", "/api/recipes/learn", { task: seed, url: "http://evil.test/?x={x}", params: { x: seed } });
        // What names parameters that are not given, or holds control characters, is no task.
        if (made.status === 422) continue;
        assert.equal(made.status, 202, JSON.stringify(made));
        ids[`hostile${i}`] = made.data.task_id;
        await home.ended(made.data.task_id);
      }
      // No character: refused, and nothing of it is kept.
      assert.equal((await home.api("POST", "/api/recipes/learn", '{"task": "\\ud800", "url": "http://evil.test/"}')).status, 400);
      for (let i = 0; i < 3; i++) await home.api("POST", "/api/recipes/gone/run", { draft: true });
      for (const query of ["lantern", "umbrella", "rope"]) assert.equal((await home.api("POST", "/api/recipes/shop-search/run", { params: { query } })).status, 200);
      home.past("shop-search", Array.from({ length: 70 }, (_, i) => [i + 1, (i * 7) % 11, i % 17 === 3 ? 2 : 0]).filter((it) => it[1] + it[2] > 0));
      // Where nothing is sure enough, a person chooses.
      home.config("[decision]\nmin_confidence_bp = 10000\n");
      await home.api("POST", "/api/reload", {});
      const har = path.join(ROOT, "tests/fixtures/books.har");
      const asked = { task: "Find books about {query}", har, params: { query: "harbour" }, no_network: true, name: "books" };
      ids.choose = (await home.api("POST", "/api/recipes/learn", asked)).data.task_id;
      await home.ended(ids.choose);
      assert.equal((await home.api("GET", `/api/tasks/${ids.choose}/result`)).data.outcome, "needs_selection");
    });

    await part("learning begun here, and a candidate chosen", () => chooseHere(driving));

    const pages = [
      "/",
      "/tasks",
      "/tasks?state=failed",
      `/tasks/${ids.learned}`,
      ...Object.keys(ids).filter((it) => it.startsWith("hostile")).map((it) => `/tasks/${ids[it]}`),
      `/tasks/${ids.choose}`,
      "/recipes",
      "/recipes?q=shop&status=verified",
      "/recipes?health=failing",
      "/recipes/shop-search",
      "/recipes/hostile",
      "/recipes/gone",
      "/recipes/drifted",
      "/recipes/paged",
      "/learn",
      `/learn?again=${ids.learned}`,
      `/learn?again=${Object.entries(ids).find(([name]) => name.startsWith("hostile"))?.[1]}`,
      "/recipes?page=2",
      "/tasks?page=2",
      "/approvals",
    ];
    for (const it of LOOKS) {
      await part(`${pages.length} pages at ${it.name}`, async () => {
        const page = await tab(browser, it);
        await enter(page, home);
        for (const address of pages) {
          await page.goto(home.base + address);
          await page.evaluate(() => document.querySelectorAll("details").forEach((it) => (it.open = true)));
          await look(page, it.name);
        }
        page.expected = /404/;
        for (const address of ["/tasks/t-none", "/recipes/none"]) {
          await page.goto(home.base + address);
          await look(page, it.name);
        }
        page.expected = null;
        await page.context().close();
      });
    }

    await part("texts that want to be more", async () => {
      const page = await tab(browser, wide);
      await enter(page, home);
      const shown = home.texts.filter((it) => !/[\u001b\u202e]/.test(it));
      // What names a parameter that is not given was no task.
      const asked = shown.filter((it) => !it.includes("{"));
      await page.goto(`${home.base}/tasks`);
      const list = await page.innerText("main");
      for (const it of asked) assert.ok(list.includes(it), `${it} is not in the list`);
      await page.goto(`${home.base}/recipes/hostile`);
      const text = await page.innerText("main");
      for (const it of shown) assert.ok(text.includes(it), `${it} is not on the recipe's page`);
      assert.ok(text.includes("\ufffdgpj.exe"));
      await page.fill("[data-param=query]", "<img src=x onerror=alert(1)>");
      await page.getByRole("button", { name: "Run the draft" }).click();
      await page.locator("#run-said.good").waitFor();
      await page.locator("#run-data table").waitFor();
      const data = await page.innerText("#run-data");
      for (const it of shown) assert.ok(data.includes(it), `${it} is not in the data`);
      assert.ok(data.includes("\ufffdgpj.exe") && !data.includes("\u202e"));
      await page.locator("#run-data details summary").click();
      await look(page, "hostile data");
      await page.goto(`${home.base}/recipes/hostile-odd`);
      page.expected = /424/;
      await page.getByRole("button", { name: "Run the draft" }).click();
      await page.locator("#run-said.good, #run-said.bad").waitFor();
      await look(page, "no character");
      await sleep(500);
      await page.context().close();
    });

    await part("a recipe run", async () => {
      for (const it of [LOOKS[1], wide]) {
        const page = await tab(browser, it);
        await enter(page, home);
        await page.goto(`${home.base}/recipes/shop-search`);
        await page.getByLabel("query").fill("umbrella");
        await page.keyboard.press("Enter");
        await page.locator("#run-said.good").waitFor();
        const rows = await page.locator("#run-data tbody tr").count();
        assert.ok(rows >= 1, `${rows} rows`);
        await look(page, it.name);
        if (it === wide) await picture(page, "dashboard-run");
        // Without the page's proof nothing is changed.
        page.expected = /403/;
        const refused = await page.evaluate(async () => (await fetch("/api/recipes/shop-search/run", { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" })).status);
        assert.equal(refused, 403);
        await page.context().close();
      }
      const page = await tab(browser, wide);
      await enter(page, home);
      await page.goto(`${home.base}/recipes/gone`);
      page.expected = /424/;
      await page.getByRole("button", { name: "Run the draft" }).click();
      await page.locator("#run-said.bad").waitFor();
      assert.match(await page.innerText("#run-said"), /HTTP_STATUS/);
      await page.context().close();
    });

    await part("a candidate chosen", async () => {
      const page = await tab(browser, wide);
      await enter(page, home);
      await page.goto(`${home.base}/tasks/${ids.choose}`);
      await page.getByRole("button", { name: "Choose 1" }).click();
      await page.waitForURL((it) => it.pathname.startsWith("/tasks/") && !it.pathname.endsWith(ids.choose));
      await page.locator("#state .badge.good").waitFor();
      await look(page, "chosen");
      await page.context().close();
    });

    if (PICTURES) {
      await part("pictures", async () => {
        home.config();
        await home.api("POST", "/api/reload", {});
        const made = await home.api("POST", "/api/recipes/learn", home.shop("shop-lanterns", { steps: [{ wait_for: { text: "what never comes" } }] }));
        const id = made.data.task_id;
        await home.api("POST", "/api/recipes/learn", home.shop("shop-garden"));
        for (const [name, it, address, height] of [
          ["overview", wide, "/", 900],
          ["phone", LOOKS[1], "/", 844],
          ["recipe", LOOKS[3], "/recipes/shop-search", 900],
          ["task", wide, `/tasks/${ids.learned}`, 900],
          ["choice", LOOKS[3], `/tasks/${ids.choose}`, 900],
        ]) {
          const page = await tab(browser, { ...it, viewport: { ...it.viewport, height } });
          await enter(page, home);
          await page.goto(home.base + address);
          await page.locator(".live.on").waitFor();
          if (address === "/") await page.locator("#now progress").first().waitFor();
          if (name === "choice") await page.locator("#ends").scrollIntoViewIfNeeded();
          await picture(page, `dashboard-${name}`);
          await picture(page, `whole-${name}`, { fullPage: true });
          await page.context().close();
        }
        await home.api("POST", `/api/tasks/${id}/cancel`, {});
      });
    }

    await part("by the keyboard alone", async () => {
      const page = await tab(browser, wide);
      await enter(page, home);
      await page.goto(`${home.base}/recipes/shop-search`);
      await page.keyboard.press("Tab");
      assert.equal(await page.evaluate(() => document.activeElement.className), "skip");
      await page.keyboard.press("Enter");
      assert.equal(await page.evaluate(() => document.activeElement.id), "main");
      // All that can be reached is, in order, and each shows that it is.
      const reached = new Set();
      let around = false;
      for (let i = 0; i < 120 && !around; i++) {
        await page.keyboard.press("Tab");
        const it = await page.evaluate(() => {
          const it = document.activeElement;
          globalThis.known ??= [];
          if (it === document.body) return null;
          if (!globalThis.known.includes(it)) globalThis.known.push(it);
          return { n: globalThis.known.indexOf(it), shown: getComputedStyle(it).outlineStyle !== "none", html: it.outerHTML.slice(0, 100) };
        });
        if (!it) around = true;
        else {
          if (!it.shown) fault(`focus is not seen on ${it.html}`);
          reached.add(it.n);
        }
      }
      const there = await page.evaluate(() => {
        const all = [...document.querySelectorAll("main :is(a[href], button, input, select, summary, [tabindex='0'])")];
        return all.filter((it) => it.checkVisibility()).filter((it) => !globalThis.known.includes(it)).map((it) => it.outerHTML.slice(0, 100));
      });
      assert.deepEqual(there, []);
      assert.ok(around, "focus never came around");
      await page.context().close();
    });

    await part("without the script", async () => {
      const page = await tab(browser, wide);
      await enter(page, home);
      const cookies = await page.context().cookies();
      const context = await browser.newContext({ viewport: wide.viewport, javaScriptEnabled: false });
      await context.addCookies(cookies);
      const still = await context.newPage();
      for (const address of ["/", "/tasks", "/recipes?q=shop", "/recipes/shop-search"]) {
        await still.goto(home.base + address);
        assert.match(await still.innerText("main"), address === "/" ? /Recent tasks/ : /shop-search/);
      }
      assert.match(await still.innerText("main"), /Running needs this page's script/);
      await context.close();
      await page.context().close();
    });
  } finally {
    await browser.close();
    home.close();
  }
  console.log(`${figures.pages} pages looked at, ${figures.violations} violations of axe-core's rules, ${wrong.length} things wrong`);
  process.exitCode = wrong.length ? 1 : 0;
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
