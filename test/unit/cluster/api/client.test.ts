import { expect, test } from "bun:test";
import { type ApiClient, createApiClient } from "../../../../src/cluster/api/client.ts";
import { until } from "../../../harness/ebb.ts";
import { failureOf, SECRETS, serve, status } from "./served-answers.ts";

const fine = () => Response.json({ metadata: { name: "y" } });

test("a refusal has the server's status, reason and words, which name the missing permission", async () => {
  const message = 'secrets "y" is forbidden: User "z" cannot get resource "secrets"';
  await using server = serve(status(403, "Forbidden", message));
  const error = await failureOf(server.api.get(`${SECRETS}/y`));
  expect(error).toMatchObject({ status: 403, reason: "Forbidden", message: `GET ${SECRETS}/y: 403 ${message}` });
  expect(server.requests).toEqual([`GET ${SECRETS}/y`]);
});

test("a refusal by something that is no API server is told in its first words", async () => {
  await using server = serve(() => new Response(`<html>\n  ${"blocked ".repeat(100)}`, { status: 403 }));
  const { message } = await failureOf(server.api.get("/x"));
  expect(message).toStartWith("GET /x: 403 <html> blocked blocked");
  expect(message.length).toBeLessThan(250);
});

test.each([429, 500, 502, 503, 504])("the client asks again after %i", async (code) => {
  await using server = serve(status(code, "X", "busy"), fine);
  expect(await server.api.get("/x")).toEqual({ metadata: { name: "y" } });
});

test("the client does not ask again before Retry-After is over", async () => {
  const times: number[] = [];
  const note = (answer: () => Response) => () => {
    times.push(performance.now());
    return answer();
  };
  const busy = status(429, "TooManyRequests", "busy", { "retry-after": "1" });
  await using server = serve(note(busy), note(busy), note(fine));
  await server.api.get("/x");
  const [first = 0, second = 0, third = 0] = times;
  expect(second - first).toBeGreaterThan(950);
  expect(third - second).toBeGreaterThan(950);
});

test.each([400, 401, 404, 409, 410, 422])("the client does not ask again after %i", async (code) => {
  const requests = code === 401 ? 2 : 1; // after a 401 the identity is asked anew, once
  const refuse = status(code, "X", "no");
  await using server = serve(refuse, refuse, refuse);
  expect(await failureOf(server.api.get("/x"))).toMatchObject({ status: code });
  expect(server.requests).toHaveLength(requests);
});

test("after a 401 the identity is asked for another token", async () => {
  const asked: (boolean | undefined)[] = [];
  await using server = serve(
    () => new Response("", { status: 401 }),
    ({ headers }) => Response.json({ metadata: { name: headers.get("authorization") } }),
  );
  const identity = async (isRefused?: boolean) => {
    asked.push(isRefused);
    return { headers: { authorization: `Bearer ${asked.length}` } };
  };
  const api = createApiClient({ server: server.base, namespace: "x", identity });
  expect(await api.get<unknown>("/x")).toEqual({ metadata: { name: "Bearer 2" } });
  expect(asked).toEqual([false, true]);
});

test("JSON that is no object of the API is no answer, whatever its status", async () => {
  for (const text of ["null", "[]", '"text"', "{}", '{"metadata":[]}', "<html>"]) {
    await using server = serve(() => new Response(text));
    expect(await failureOf(server.api.get("/x", { retries: 0 }))).toMatchObject({
      status: undefined,
      reason: "Unreachable",
    });
  }
});

test("an answer that the server packs, as it does long lists, is unpacked", async () => {
  await using server = serve(({ headers }) => {
    const isTaken = headers.get("accept-encoding")?.includes("gzip") === true;
    const body = JSON.stringify({ metadata: { name: isTaken ? "packed" : "as it is" } });
    return isTaken ? new Response(Bun.gzipSync(body), { headers: { "content-encoding": "gzip" } }) : new Response(body);
  });
  expect(await server.api.get("/x")).toEqual({ metadata: { name: "packed" } });
});

/** It never ends, and says nothing. */
function endless(start: string, times = Number.POSITIVE_INFINITY): () => Response {
  const chunk = new TextEncoder().encode("x".repeat(0x10000));
  async function* body() {
    yield new TextEncoder().encode(start);
    for (let count = 0; count < times; count += 1) yield chunk;
  }
  return () => new Response(body() as unknown as ReadableStream);
}

test.each<[string, (api: ApiClient) => Promise<unknown>, string]>([
  ["answer", (api) => api.get("/x", { retries: 0 }), "an answer longer than 64 MiB"],
  [
    "line of a watch",
    (api) => Array.fromAsync(api.watch("/x", {}, new AbortController().signal)),
    "a line of more than 8388608 characters",
  ],
])("an %s that never ends is given up at a bound", async (_, ask, words) => {
  await using server = serve(endless('{"metadata":{"name":"'));
  expect((await failureOf(ask(server.api))).message).toEndWith(words);
});

test("a watch's lines are whole, however they come: in pieces, with empty ones between, the last one open", async () => {
  const event = (name: string) => JSON.stringify({ type: "ADDED", object: { metadata: { name } } });
  const text = new TextEncoder().encode(`${event("ä")}\n\n${event("x".repeat(5000))}\n${event("open")}`);
  async function* bytes() {
    for (const byte of text) yield Uint8Array.of(byte);
  }
  await using server = serve(() => new Response(bytes() as unknown as ReadableStream));
  const events = await Array.fromAsync(server.api.watch("/x", {}, new AbortController().signal));
  expect(events.map(({ object }) => object.metadata.name.length)).toEqual([1, 5000]);
});

test("nor is a line that is not a watch event", async () => {
  for (const line of ["<html>", "null", "{}", '{"type":"ADDED","object":null}', '{"type":"ADDED","object":{}}']) {
    await using server = serve(() => new Response(`${line}\n`));
    const watched = Array.fromAsync(server.api.watch("/x", {}, new AbortController().signal));
    expect(await failureOf(watched)).toMatchObject({ status: undefined, reason: "Unreachable" });
  }
});

test("a server that nobody is at, one that is silent, and one that breaks off are told apart", async () => {
  const nowhere = createApiClient({
    server: "http://127.0.0.1:1",
    namespace: "x",
    identity: async () => ({ headers: {} }),
  });
  expect(await failureOf(nowhere.get("/x", { retries: 0 }))).toMatchObject({
    reason: "Unreachable",
    message: "GET /x: http://127.0.0.1:1: connection refused",
  });
  await using silent = serve(() => new Promise(() => undefined));
  expect(await failureOf(silent.api.get("/x", { retries: 0, timeoutMs: 50 }))).toMatchObject({ reason: "Timeout" });
  await using broken = serve(() => new Response('{"metadata":'));
  expect(await failureOf(broken.api.get("/x", { retries: 0 }))).toMatchObject({ reason: "Unreachable" });
});

test("an aborted signal ends a request, and a pause between two, with its reason", async () => {
  const stop = new AbortController();
  await using server = serve(status(429, "TooManyRequests", "busy", { "retry-after": "30" }));
  const asking = server.api.get("/x", { signal: stop.signal });
  await until("the request", () => server.requests.length === 1, 30_000);
  stop.abort(new Error("enough"));
  const reason = await asking.catch((error: unknown) => error);
  expect(reason).toEqual(new Error("enough"));
});

test("a redirect is not followed: the token is for this server alone", async () => {
  await using other = serve(fine);
  await using server = serve(() => Response.redirect(`${other.base}/x`));
  await failureOf(server.api.get("/x", { retries: 0 }));
  expect(other.requests).toEqual([]);
});

test("a request that writes has the content type of its body", async () => {
  const types: (string | null)[] = [];
  const note = ({ headers }: Request) => {
    types.push(headers.get("content-type"));
    return fine();
  };
  await using server = serve(note, note, note);
  await server.api.create("/x", {});
  await server.api.update("/x/y", {});
  await server.api.patch("/x/y", []);
  expect(types).toEqual(["application/json", "application/json", "application/json-patch+json"]);
  expect(server.requests).toEqual(["POST /x", "PUT /x/y", "PATCH /x/y"]);
});
