// An editor made of the TypeScript library: `node load.mjs PACKAGES PROJECT PROGRAM...` prints what it saw as JSON.
// The library checks what the agent asks and tells, but leaves out what it does not know, and checks no response;
// here each message is parsed with the library's own schemas, and nothing of it may be missing afterwards.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";

const [packages, cwd, program, ...options] = process.argv.slice(2);
const found = pathToFileURL(createRequire(`${packages}/`).resolve("@agentclientprotocol/sdk"));
const acp = await import(found);
const schemas = await import(new URL("../schema/zod.gen.js", found));
const { agent: ask, client: told } = acp.methods;

function whole(schema, message) {
  assert.partialDeepStrictEqual(schemas[schema].parse(message), message);
  return message;
}

async function withAgent(work) {
  const child = spawn(program, options, { cwd, stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => child.once("exit", (status, signal) => resolve(status ?? signal)));
  const saw = { updates: [], asked: [] };
  const { readable, writable } = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const unread = new TransformStream({
    transform(message, next) {
      if (message.method === told.session.update) saw.updates.push(message.params);
      if (message.method === told.session.requestPermission) saw.asked.push(message.params);
      next.enqueue(message);
    },
  });
  const editor = acp
    .client({ name: "load.mjs" })
    .onNotification(told.session.update, () => {})
    .onRequest(told.session.requestPermission, ({ params }) => {
      const { optionId } = params.options.find(({ kind }) => kind === "allow_once");
      return { outcome: { outcome: "selected", optionId } };
    });
  await editor.connectWith({ readable: readable.pipeThrough(unread), writable }, async (agent) => {
    const answered = async (schema, method, params) => whole(schema, await agent.request(method, params));
    const initialize = { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} };
    saw.initialized = await answered("zInitializeResponse", ask.initialize, initialize);
    await work(answered, saw);
  });
  child.stdin.end();
  saw.status = await ended;
  saw.updates = saw.updates.map((params) => whole("zSessionNotification", params));
  saw.asked = saw.asked.map((params) => whole("zRequestPermissionRequest", params));
  return saw;
}

const prompt = (sessionId, text) => ({ sessionId, prompt: [{ type: "text", text }] });
const begun = await withAgent(async (answered, saw) => {
  saw.new = await answered("zNewSessionResponse", ask.session.new, { cwd, mcpServers: [] });
  saw.prompted = await answered("zPromptResponse", ask.session.prompt, prompt(saw.new.sessionId, "Change a.txt"));
});
const { sessionId } = begun.new;
const loaded = await withAgent(async (answered, saw) => {
  saw.loaded = await answered("zLoadSessionResponse", ask.session.load, { sessionId, cwd, mcpServers: [] });
  saw.listed = await answered("zListSessionsResponse", ask.session.list, { cwd });
});
const resumed = await withAgent(async (answered, saw) => {
  saw.resumed = await answered("zResumeSessionResponse", ask.session.resume, { sessionId, cwd, mcpServers: [] });
  saw.listed = await answered("zListSessionsResponse", ask.session.list, { cwd });
});
console.log(JSON.stringify({ begun, loaded, resumed }));
