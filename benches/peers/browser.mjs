// A warm browser. Reads a JSON line for each thing to do and answers with microseconds:
//   {fetch: {url, method, body}, n}   calls `fetch` in a page of that origin and takes the fields out there, n times
//   {task: {url, steps, values}}      does the steps in a new context and reads the page's text, as a script would
// Launching the browser is not counted.
import { createInterface } from 'node:readline';
import { chromium } from 'playwright-core';

const [, , executablePath, addr] = process.argv;
const browser = await chromium.launch({
  executablePath,
  args: [`--host-resolver-rules=MAP *.test ${addr}`],
});
const home = await (await browser.newContext()).newPage();

async function fetched({ url, method, body }) {
  const start = performance.now();
  const items = await home.evaluate(async ([url, method, body]) => {
    const headers = { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) };
    const answer = await (await fetch(url, { method, headers, body: body && JSON.stringify(body) })).json();
    return answer.items.map(it => ({ id: it.id, title: it.title, price: it.price, rating: it.rating, stock: it.in_stock }));
  }, [url, method, body]);
  if (!items.length) throw new Error('no items');
  return (performance.now() - start) * 1000;
}

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);

const STEPS = {
  navigate: (page, url) => page.goto(url),
  fill: (page, it) => target(page, it).fill(it.value),
  click: (page, it) => target(page, it).click(),
  select: (page, it) => target(page, it).selectOption({ label: it.value }),
  press: (page, key) => page.keyboard.press(key),
  wait_for: (page, it) => {
    if (it.text) return page.getByText(it.text).first().waitFor();
    if (it.selector) return page.locator(it.selector).first().waitFor();
    return page.waitForLoadState('networkidle');
  },
};

function target(page, { role, name, selector }) {
  return (selector ? page.locator(selector) : page.getByRole(role, { name })).first();
}

async function done({ url, steps, values }) {
  const start = performance.now();
  const context = await browser.newContext();
  try {
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    await page.goto(url);
    for (const step of steps) {
      const [[verb, argument]] = Object.entries(step);
      if (!STEPS[verb]) throw new Error(`step ${verb}`);
      await STEPS[verb](page, JSON.parse(filled(JSON.stringify(argument), values)));
    }
    const text = await page.locator('body').innerText();
    if (!text) throw new Error('an empty page');
    return (performance.now() - start) * 1000;
  } finally {
    await context.close();
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const ask = JSON.parse(line);
  const out = [];
  try {
    if (ask.fetch) {
      // A page of the same origin; it answers 404 and is a page all the same.
      const origin = new URL(ask.fetch.url).origin;
      if (new URL(home.url()).origin !== origin) await home.goto(origin + '/');
      for (let i = 0; i < ask.n; i++) out.push(await fetched(ask.fetch));
    } else {
      out.push(await done(ask.task));
    }
    console.log(JSON.stringify(out));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error).split('\n')[0] }));
  }
}
await browser.close();
