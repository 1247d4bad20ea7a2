// The official TypeScript SDK as a client: `sdk.mjs 1` with sessions (2025-11-25), `sdk.mjs 2` without (2026-07-28).
// A line a check, `ok …` or `no …`; the exit code is 1 where one is not well.
import { createRequire } from 'node:module';

const { MCP_URL, MCP_TOKEN, MCP_MODULES } = process.env;
const modern = process.argv[2] === '2';
const revision = modern ? '2026-07-28' : '2025-11-25';
const require = createRequire(`${MCP_MODULES}/-`);
const v1 = modern ? null : require('@modelcontextprotocol/sdk/types.js');
const { Client } = require(modern ? '@modelcontextprotocol/client' : '@modelcontextprotocol/sdk/client/index.js');
const { StreamableHTTPClientTransport } = require(
  modern ? '@modelcontextprotocol/client' : '@modelcontextprotocol/sdk/client/streamableHttp.js',
);

let failed = 0;
async function check(name, what) {
  try {
    await what();
    console.log(`ok ${name}`);
  } catch (err) {
    failed += 1;
    console.log(`no ${name}: ${String(err?.message ?? err).split('\n')[0]}`);
  }
}
function must(holds, why) {
  if (!holds) throw new Error(why);
}
async function until(what, why, seconds = 10) {
  const end = Date.now() + seconds * 1000;
  while (Date.now() < end) {
    const it = await what();
    if (it) return it;
    await new Promise(done => setTimeout(done, 50));
  }
  throw new Error(why);
}

const asked = [];
function answer(request) {
  asked.push(request.params);
  return { action: 'accept', content: { query: 'lantern' } };
}
let changes = 0;
const client = new Client(
  { name: 'typescript', version: '1' },
  {
    capabilities: { elicitation: { form: {} } },
    ...(modern ? { versionNegotiation: { mode: { pin: revision } } } : {}),
  },
);
const changed = () => void (changes += 1);
client.setRequestHandler(modern ? 'elicitation/create' : v1.ElicitRequestSchema, answer);
client.setNotificationHandler(modern ? 'notifications/tools/list_changed' : v1.ToolListChangedNotificationSchema, changed);
const headers = { Authorization: `Bearer ${MCP_TOKEN}` };
const transport = new StreamableHTTPClientTransport(new URL(MCP_URL), { requestInit: { headers } });
const call = (name, args, options) => {
  const params = { name, arguments: args };
  return modern ? client.callTool(params, options) : client.callTool(params, undefined, options);
};
const names = async () => (await client.listTools(undefined, modern ? { cacheMode: 'refresh' } : {})).tools.map(it => it.name);
const learn = (name, options) =>
  call(
    'recipe_learn',
    {
      task: 'Weather for {city}',
      name,
      url: 'http://city.test/',
      steps: [{ fill: { label: 'City', value: '{city}' } }, { press: 'Enter' }, { wait_for: { text: '7-day forecast for {city}' } }],
      params: { city: 'Lisbon' },
      second: { city: 'Oslo' },
    },
    { timeout: 120_000, ...options },
  );
const mine = `weather-ts${process.argv[2]}`;

await check('connect', async () => {
  await client.connect(transport);
  const spoken = modern ? client.getNegotiatedProtocolVersion() : transport.protocolVersion;
  must(spoken === revision, `it speaks ${spoken}`);
  must(client.getServerVersion().name === 'commis', 'it is another server');
});
await check('list', async () => {
  const { tools } = await client.listTools();
  const it = tools.find(it => it.name === 'recipe_shop-search');
  must(it?.inputSchema.properties.query.type === 'string', 'no recipe with its parameter');
  must(it.outputSchema?.type === 'object', 'no output schema');
});
// The SDK checks structured content against the output schema that was listed, and throws where it does not fit.
await check('call', async () => {
  const it = await call('recipe_shop-search', { query: 'umbrella' });
  must(!it.isError, it.content?.[0]?.text);
  must(it.structuredContent.data.length > 0, 'no data');
  must(it.content[0].text.toLowerCase().includes('umbrella'), 'other data');
});
await check('call of an operation with an output schema', async () => {
  const it = await call('recipe_list', {});
  must(!it.isError && it.structuredContent.ok, it.content?.[0]?.text);
});
await check('an error is the tool’s', async () => {
  const it = await call('commis_run', { name: 'there-is-none' });
  must(it.isError && it.structuredContent.error.error_code === 'RECIPE_NOT_FOUND', JSON.stringify(it));
});
await check('a value that is missing is asked for', async () => {
  const it = await call('recipe_shop-search', {});
  must(!it.isError, it.content?.[0]?.text);
  must(asked.length === 1 && asked[0].requestedSchema.required[0] === 'query', 'nobody was asked');
  must(it.content[0].text.toLowerCase().includes('lantern'), 'other data');
});
await check('complete', async () => {
  const ref = { type: 'ref/resource', uri: 'commis://recipes/{name}' };
  const it = await client.complete({ ref, argument: { name: 'name', value: 'shop' } });
  must(it.completion.values.includes('shop-search'), JSON.stringify(it));
});
await check('read and prompt', async () => {
  const it = await client.readResource({ uri: 'commis://recipes/shop-search' });
  must(it.contents[0].text.includes('shop.test'), 'no recipe');
  const prompt = await client.getPrompt({ name: 'answer', arguments: { task: 'how dear is an umbrella' } });
  must(prompt.messages[0].content.text.includes('how dear is an umbrella'), JSON.stringify(prompt.messages));
});
const told = modern ? await client.listen({ toolsListChanged: true }) : null;
await check('learn, with progress', async () => {
  const seen = [];
  const it = await learn(mine, { onprogress: it => seen.push(it) });
  must(!it.isError && it.structuredContent.data.outcome === 'verified', JSON.stringify(it).slice(0, 300));
  must(seen.length >= 3 && seen.every((it, i) => i === 0 || it.progress > seen[i - 1].progress), JSON.stringify(seen));
  must(seen.every(it => it.total && it.message), 'progress without a name');
});
await check('the list changed', async () => {
  await until(() => changes > 0, 'nothing was told');
  must((await names()).includes(`recipe_${mine}`), 'the new tool is not listed');
  const it = await call(`recipe_${mine}`, { city: 'Paris' });
  must(!it.isError && it.content[0].text.length > 20, it.content?.[0]?.text);
});
await check('cancel', async () => {
  const stop = new AbortController();
  const gone = `cancelled-ts${process.argv[2]}`;
  const end = learn(gone, { signal: stop.signal, onprogress: () => stop.abort('enough') });
  const why = await end.then(() => null, err => err);
  must(why, 'it went on to its end');
  const state = async () => {
    const it = await call('task_list', { limit: 20 });
    return it.structuredContent.data.tasks.find(it => it.args.name === gone)?.state;
  };
  await until(async () => (await state()) === 'cancelled', `the task is ${await state()}`);
});
await told?.close();
await check('close', async () => {
  if (!modern) await transport.terminateSession();
  await client.close();
});
process.exit(failed ? 1 : 0);
