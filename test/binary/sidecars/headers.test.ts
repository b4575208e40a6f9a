import { expect, test } from "bun:test";
import { createServer, type Server } from "node:http";
import { childPath } from "../../harness/compiled.ts";
import { ebb } from "../../harness/ebb.ts";
import { listen } from "../../harness/free-port.ts";
import { envoyAnswer, live } from "../../stand-in/envoy-answers.ts";

const TOKEN = "s3cret";

interface Guarded extends Disposable {
  readonly url: string;
  /** `METHOD /path STATUS` of each request so far. */
  readonly answers: readonly string[];
}

/** Starts an Envoy's admin interface that answers with 401 whatever has no token. */
async function startGuarded(): Promise<Guarded> {
  const answers: string[] = [];
  const server: Server = createServer(({ method, url = "", headers }, response) => {
    const { pathname } = new URL(url, "http://x");
    const isLetIn = headers["x-token"] === TOKEN;
    answers.push(`${method} ${pathname} ${isLetIn ? 200 : 401}`);
    const known = envoyAnswer(pathname, { ...live, node: {} });
    response.writeHead(isLetIn ? 200 : 401).end(isLetIn ? (known?.body ?? "LIVE\n") : "no token\n");
    if (isLetIn && pathname === "/quitquitquit") server.close();
  });
  const port = await listen(server);
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${port}`, answers, [Symbol.dispose]: stop };
}

const flag = ["--header", `X-Token: ${TOKEN}`];
const variable = { EBB_HEADER: `X-Token: ${TOKEN}` };
const app = ["--", childPath(), "exit", "5"];

test.each([
  ["a flag", flag, {}],
  ["a variable", [], variable],
])("--header goes with each request to a sidecar: %s", async (_, flags, env) => {
  using guarded = await startGuarded();
  const run = ["run", "--admin", guarded.url, ...flags, "--log-level", "debug", ...app];
  const ended = await ebb(run, { env });
  expect(ended.code).toBe(5);
  expect(ended.stderr).not.toContain(TOKEN);
  expect([...new Set(guarded.answers)]).toEqual(["GET /ready 200", "POST /quitquitquit 200"]);
});

test("--header goes with the requests of a drain, of status, and of --ready, too", async () => {
  using guarded = await startGuarded();
  const drain = ["drain", "--admin", guarded.url, ...flag, "--drain", "1s", "--min-drain", "0s"];
  await ebb(drain);
  const status = await ebb(["status", "--json", "--admin", guarded.url, "--ready", `${guarded.url}/ready`, ...flag]);
  expect(guarded.answers).toContain("POST /drain_listeners 200");
  expect(guarded.answers.filter((answer) => answer.endsWith("401"))).toEqual([]);
  expect(JSON.parse(status.stdout).sidecars).toMatchObject([
    { ready: true, envoy: { state: "LIVE" } },
    { ready: true },
  ]);
  expect(status.stdout).not.toContain(TOKEN);
});

test("ebb wait sends the headers of a flag to its targets, and those of a variable to sidecars alone", async () => {
  using guarded = await startGuarded();
  const wait = ["wait", "--sidecar", "none", "--wait-timeout", "1s"];
  expect((await ebb([...wait, ...flag, `${guarded.url}/ready`])).code).toBe(0);
  const untold = await ebb([...wait, `${guarded.url}/ready`], { env: variable });
  expect(untold.code).toBe(69);
  expect(untold.stderr).toContain("HTTP 401");
});
