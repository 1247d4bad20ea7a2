// Learning that is begun in the dashboard: by address and steps, by a HAR file that is dropped, as a draft that gets its second
// example, and by a candidate that is chosen.
"use strict";

const assert = require("node:assert/strict");
const fs = require("node:fs");
const path = require("node:path");
const { chromium } = require("playwright-core");

const SENTENCE = "Search the shop for {query} and list the products with their prices";
/// In the file alone: what nothing on disk may hold.
const CANARY = "canary-Qz7wN2kX9sLb4TfV";

/// What a browser exports of a visit to the test web's shop.
async function visit(home) {
  const file = path.join(home.home, "visit.har");
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: [`--host-resolver-rules=MAP *.test 127.0.0.1:${home.web_port}`] });
  const context = await browser.newContext({ recordHar: { path: file, content: "embed" } });
  const page = await context.newPage();
  await page.goto("http://shop.test/");
  await page.getByRole("searchbox", { name: "Search products" }).fill("lantern");
  await page.keyboard.press("Enter");
  await page.getByText("results for lantern").waitFor();
  await context.close();
  await browser.close();
  const har = JSON.parse(fs.readFileSync(file, "utf8"));
  fs.rmSync(file);
  har.log.entries[0].request.headers.push({ name: "Authorization", value: `Bearer ${CANARY}` });
  har.log.entries[0].request.cookies.push({ name: "sid", value: CANARY });
  har.log.entries[0].request.headers.push({ name: "Cookie", value: `sid=${CANARY}` });
  return JSON.stringify(har);
}

/// A file that falls on the page, wherever.
async function drop(page, name, text) {
  const transfer = await page.evaluateHandle(
    ([name, text]) => {
      const it = new DataTransfer();
      it.items.add(new File([text], name, { type: "application/json" }));
      return it;
    },
    [name, text],
  );
  await page.dispatchEvent("footer", "dragover", { dataTransfer: transfer });
  await page.dispatchEvent("footer", "drop", { dataTransfer: transfer });
}

const begin = async (page) => {
  await page.getByRole("button", { name: "Learn", exact: true }).click();
  await page.waitForURL((it) => it.pathname.startsWith("/tasks/"));
};
const value = (page, name) => page.locator(`[data-value] [data-field=${name}]`).first();

/// Whether a file of that folder holds those bytes.
function holds(folder, bytes) {
  return fs.readdirSync(folder, { recursive: true, withFileTypes: true }).filter((it) => it.isFile()).map((it) => path.join(it.parentPath, it.name)).filter((it) => fs.readFileSync(it).includes(bytes));
}

async function learnHere({ home, tab, enter, look, picture, LOOKS }) {
  // By the keyboard alone.
  const page = await tab(LOOKS[2]);
  await enter(page, home);
  await page.goto(`${home.base}/learn`);
  await page.locator("#learn-url").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement.dataset.field), "kind");
  // What begins with "=" is typed, all else is a key.
  const write = async (...keys) => {
    for (const it of keys) await (it.startsWith("=") ? page.keyboard.type(it.slice(1)) : page.keyboard.press(it));
  };
  await write("=type", "Tab", "=searchbox", "Tab", "=Search products", "Tab", "={query}", "Tab", "Tab", "Enter");
  await write("=press", "Tab", "=Enter", "Tab", "Tab", "Enter");
  await write("=wait", "Tab", "=results for {query}", "Tab", "Tab", "Tab");
  assert.equal(await page.evaluate(() => document.activeElement.id), "learn-task");
  await write(`=${SENTENCE}`, "Tab");
  assert.equal(await page.evaluate(() => document.activeElement.value), "query");
  await write("Tab", "=lantern", "Tab", "=garden hose", "Enter");
  // What is missing is said, and the focus is there.
  assert.match(await page.locator("#learn-trouble").innerText(), /address/);
  assert.equal(await page.evaluate(() => document.activeElement.id), "learn-url");
  await look(page, "missing");
  await write("=https://shop.test/");
  await page.evaluate(() => (document.getElementById("learn-trouble").hidden = true));
  await picture(page, "dashboard-learn", { fullPage: true });
  await write("Enter");
  await page.waitForURL((it) => it.pathname.startsWith("/tasks/"));
  await page.waitForFunction(() => /stage \d+ of/.test(document.getElementById("said").textContent), null, { timeout: 20_000 });
  await page.locator("#ends").getByText("verified", { exact: true }).waitFor({ timeout: 60_000 });
  await page.locator("#try").getByLabel("query").fill("rope");
  await page.keyboard.press("Enter");
  await page.locator("#run-said.good").waitFor();
  // What was written and what came of it stays, as the page is kept up.
  await page.waitForTimeout(2500);
  assert.equal(await page.locator("#try").getByLabel("query").inputValue(), "rope");
  assert.ok((await page.locator("#run-data tbody tr").count()) > 0);
  await look(page, "verified");
  await page.context().close();

  // A file, at a phone's width.
  const har = await visit(home);
  const phone = await tab(LOOKS[1]);
  await enter(phone, home);
  const sent = [];
  phone.on("request", (it) => it.url().includes("/api/") && it.method() === "POST" && sent.push(new URL(it.url()).pathname));
  await phone.goto(`${home.base}/learn`);
  await phone.evaluate(() => (document.getElementById("learn").dataset.max = "1000"));
  await drop(phone, "<b>large</b>.har", har);
  assert.match(await phone.locator("#learn-trouble").innerText(), /<b>large<\/b>\.har has .* KiB, and at most 1 KiB can be uploaded/);
  await phone.fill("#learn-task", SENTENCE);
  await phone.getByRole("button", { name: "Learn", exact: true }).click();
  await phone.locator("#learn-trouble").getByText("at most").waitFor();
  assert.deepEqual(sent, []);
  await look(phone, "too large");
  await phone.goto(`${home.base}/learn`);
  await drop(phone, "none.har", '{"no": "har"}');
  await phone.fill("#learn-task", SENTENCE);
  await value(phone, "first").fill("lantern");
  phone.expected = /422/;
  await phone.getByRole("button", { name: "Learn", exact: true }).click();
  await phone.locator("#learn-trouble").getByText("no HAR").waitFor();
  phone.expected = null;
  assert.deepEqual(sent, ["/api/uploads/har"]);
  await drop(phone, "visit.har", har);
  assert.equal(await phone.locator("[name=source]:checked").getAttribute("value"), "har");
  assert.match(await phone.locator("#learn-har-said").innerText(), /^visit\.har, /);
  await phone.getByText("Name, login, and learning again").click();
  await phone.fill("#learn-name", "shop-of-a-file");
  await look(phone, "file chosen");
  await begin(phone);
  // One example is a draft; the page says what it lacks, and leads to the form as it was.
  await phone.locator("#ends").getByText("saved draft").waitFor({ timeout: 60_000 });
  await look(phone, "draft");
  await phone.getByRole("link", { name: "Give a second example" }).click();
  await phone.waitForURL((it) => it.pathname === "/learn");
  assert.deepEqual([await phone.inputValue("#learn-task"), await value(phone, "first").inputValue(), await phone.inputValue("#learn-name")], [SENTENCE, "lantern", "shop-of-a-file"]);
  await look(phone, "again");
  await value(phone, "second").fill("garden hose");
  await begin(phone);
  await phone.locator("#ends").getByText("verified", { exact: true }).waitFor({ timeout: 60_000 });
  await phone.getByRole("link", { name: "the recipe shop-of-a-file" }).click();
  await phone.waitForURL((it) => it.pathname === "/recipes/shop-of-a-file");
  assert.deepEqual(holds(home.home, CANARY), []);
  // Without the page's proof nothing is taken.
  phone.expected = /403/;
  const refused = await phone.evaluate(async () => (await fetch("/api/uploads/har", { method: "POST", headers: { "Content-Type": "application/json" }, body: '{"log": {"entries": [1]}}' })).status);
  assert.equal(refused, 403);
  await phone.context().close();
  return har;
}

/// Where nothing is sure enough: the settings say so already.
async function chooseHere({ home, tab, enter, look, LOOKS }) {
  const page = await tab(LOOKS[0]);
  await enter(page, home);
  await page.goto(`${home.base}/learn`);
  await drop(page, "visit.har", await visit(home));
  await page.fill("#learn-task", SENTENCE);
  await value(page, "first").fill("lantern");
  await value(page, "second").fill("garden hose");
  assert.equal(await value(page, "name").inputValue(), "query");
  await page.getByText("Name, login, and learning again").click();
  await page.fill("#learn-name", "shop-chosen");
  await begin(page);
  await page.getByRole("button", { name: "Choose 1" }).waitFor({ timeout: 60_000 });
  assert.match(await page.innerText("#ends"), /Speaks for it[\s\S]*Speaks against it/);
  await look(page, "to choose");
  const before = page.url();
  await page.getByRole("button", { name: "Choose 1" }).click();
  await page.waitForURL((it) => it.pathname.startsWith("/tasks/") && it.href !== before);
  await page.locator("#ends").getByText("verified", { exact: true }).waitFor({ timeout: 60_000 });
  await page.locator("#try form").waitFor();
  await page.context().close();
}

module.exports = { learnHere, chooseHere };
