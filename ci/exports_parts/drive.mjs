// Calls functions of an exported client: `drive.mjs CLIENT < calls`, a list of {function, given, key?, answers?}. With answers, nothing is
// sent: each fetch gets the next one, and what was asked is told.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const client = await import(pathToFileURL(process.argv[2]));
const out = [];
for (const it of JSON.parse(readFileSync(0, "utf8"))) {
  const asked = [];
  const answers = it.answers && [...it.answers];
  const ask = answers
    ? async (url, init) => {
        asked.push({ url, method: init.method, headers: init.headers, body: init.body ?? null });
        return new Response(answers.shift(), { status: 200 });
      }
    : fetch;
  try {
    const rest = it.key === undefined ? [ask] : [it.key, ask];
    out.push({ data: await client[it.function](it.given, ...rest), asked });
  } catch (err) {
    out.push({ error: String(err.cause ?? err), asked });
  }
}
process.stdout.write(JSON.stringify(out));
