// Serves a GGUF file on loopback in the OpenAI format, with answers held to their JSON schema. For scripts/real-model only.
//   node real-model.mjs FILE.gguf   prints its port on stdout
import http from "node:http";
import { getLlama, LlamaChatSession } from "node-llama-cpp";

const llama = await getLlama({ gpu: false, build: "never", logLevel: "error", maxThreads: 2 });
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({ contextSize: { min: 4096, max: 8192 } });

async function complete({ messages, max_tokens, response_format }) {
  const said = (role) => messages.filter((it) => it.role === role).map((it) => it.content).join("\n");
  const grammar = await llama.createGrammarForJsonSchema(response_format.json_schema.schema);
  const sequence = context.getSequence();
  try {
    const session = new LlamaChatSession({ contextSequence: sequence, systemPrompt: said("system") });
    const { responseText, stopReason } = await session.promptWithMeta(said("user"), {
      grammar,
      maxTokens: max_tokens,
      temperature: 0,
    });
    return {
      object: "chat.completion",
      choices: [{
        index: 0,
        finish_reason: stopReason === "maxTokens" ? "length" : "stop",
        message: { role: "assistant", content: responseText },
      }],
      usage: {
        prompt_tokens: model.tokenize(said("system") + said("user")).length,
        completion_tokens: model.tokenize(responseText).length,
      },
    };
  } finally {
    sequence.dispose();
  }
}

const server = http.createServer(async (request, response) => {
  const parts = [];
  for await (const it of request) parts.push(it);
  let status = 200;
  let body;
  try {
    body = await complete(JSON.parse(Buffer.concat(parts)));
  } catch (err) {
    console.error(err);
    status = 500;
    body = { error: { message: "see the server's log" } };
  }
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
