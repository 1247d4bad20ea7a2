// Carries out steps in a browser and keeps the HAR. One job a line on stdin, one result a line on stdout.
const [playwright, executablePath, rules, patience] = process.argv.slice(2);
const { chromium } = require(playwright);
const readline = require("readline");
const TIMEOUT = Number(patience) || 12000;

const encoded = url => url.replace(/ /g, "%20");

async function element(page, it) {
  let exact = true;
  if (it.role && it.name) {
    // Names are computed in more ways than one.
    const there = page.getByRole(it.role, { name: it.name, exact }).first();
    exact = await there.waitFor({ timeout: 4000, state: "attached" }).then(() => true, () => false);
  }
  const named = it.role ? page.getByRole(it.role, it.name ? { name: it.name, exact } : {})
    : it.label ? page.getByLabel(it.label)
    : it.placeholder ? page.getByPlaceholder(it.placeholder)
    : page.locator(it.css);
  return it.nth === undefined ? named.first() : named.nth(it.nth);
}

async function perform(page, step, finished) {
  const [kind, it] = Object.entries(step)[0];
  if (kind === "navigate") return page.goto(encoded(it), { timeout: TIMEOUT });
  if (kind === "press") return page.keyboard.press(it);
  if (kind === "click") return (await element(page, it)).click({ timeout: TIMEOUT });
  if (kind === "fill") {
    const field = await element(page, it);
    await field.waitFor({ timeout: TIMEOUT });
    if (await field.evaluate(node => node.tagName === "SELECT")) return field.selectOption({ label: it.value });
    // What takes the focus may put another field in its place.
    await field.click({ timeout: TIMEOUT });
    await page.keyboard.press("Control+A");
    return page.keyboard.type(it.value, { delay: 30 });
  }
  if (kind === "wait_for") {
    const [what, value] = Object.entries(it)[0];
    if (what === "selector") return page.locator(value).first().waitFor({ timeout: TIMEOUT });
    const until = Date.now() + TIMEOUT;
    for (;;) {
      if (what === "request" && finished.some(url => url.includes(value))) return;
      if (what === "text") {
        for (const frame of page.frames()) {
          const shown = await frame.evaluate(() => {
            const read = root => [...root.querySelectorAll("*")].reduce(
              (text, node) => (node.shadowRoot ? text + " " + read(node.shadowRoot) + " " + node.shadowRoot.textContent : text), "");
            return document.body ? document.body.innerText + read(document) : "";
          }).catch(() => "");
          if (shown.replace(/\s+/g, " ").includes(value)) return;
        }
      }
      if (Date.now() > until) throw new Error(`${what} ${value} never came`);
      await page.waitForTimeout(60);
    }
  }
  throw new Error(`${kind} is no step`);
}

// What a context holds of a site once the form was sent: who records is logged in already.
async function loggedIn(browser, job) {
  if (!job.login) return undefined;
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    await page.goto(job.login.url, { timeout: TIMEOUT });
    const steps = [...job.login.steps], last = steps.pop();
    for (const step of steps) await perform(page, step, []);
    await Promise.all([page.waitForNavigation({ timeout: TIMEOUT }), perform(page, last, [])]);
    return await context.storageState();
  } finally {
    await context.close();
  }
}

async function record(browser, job) {
  const storageState = await loggedIn(browser, job);
  const context = await browser.newContext({ storageState, recordHar: { path: job.path, content: "embed" }, viewport: { width: 1280, height: 800 } });
  try {
    const page = await context.newPage();
    const finished = [];
    page.on("requestfinished", it => finished.push(it.url()));
    await page.goto(encoded(job.url), { timeout: TIMEOUT });
    let waited = false;
    for (const step of job.steps) {
      const waits = "wait_for" in step;
      // A request that is waited for is one of the acts just before, not one that the page made when it was opened.
      if (waited && !waits) finished.length = 0;
      waited = waits;
      await perform(page, step, finished);
    }
    await page.waitForTimeout(500);
  } finally {
    await context.close();
  }
}

(async () => {
  const browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", `--host-resolver-rules=${rules}`, "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--disable-quic"],
  });
  for await (const line of readline.createInterface({ input: process.stdin })) {
    let error = null;
    try {
      await record(browser, JSON.parse(line));
    } catch (err) {
      error = String(err.message || err).slice(0, 300);
    }
    process.stdout.write(JSON.stringify({ error }) + "\n");
  }
  await browser.close();
})();
