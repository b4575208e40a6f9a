import { expect, test } from "bun:test";
import { ApiError } from "../../../src/kube/api/api-error.ts";
import { type ApiClient, createApiClient } from "../../../src/kube/api/client.ts";
import { listAt } from "../../../src/kube/api/list.ts";
import { withQuery } from "../../../src/kube/api/query.ts";
import { follow } from "../../../src/kube/controller/follow.ts";
import { until } from "../../harness.ts";
import { takes } from "../../time.ts";
import { collectLog } from "../collect-log.ts";

const SECRETS = "/api/v1/namespaces/x/secrets";

/** An API server that answers with what it is told, in order. */
function serve(...answers: ((request: Request) => Response | Promise<Response>)[]) {
  const requests: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      requests.push(`${request.method} ${request.url.slice(server.url.href.length - 1)}`);
      return answers.shift()?.(request) ?? new Response("unexpected", { status: 418 });
    },
  });
  const base = server.url.href.replace(/\/$/, "");
  const identity = async () => ({ headers: { authorization: "Bearer secret" } });
  const api = createApiClient({ server: base, namespace: "x", identity });
  return { api, base, requests, [Symbol.asyncDispose]: () => server.stop(true) };
}

const status =
  (code: number, reason: string, message: string, headers = {}) =>
  () =>
    Response.json({ kind: "Status", status: "Failure", code, reason, message }, { status: code, headers });
const fine = () => Response.json({ metadata: { name: "y" } });

async function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error(`expected an ApiError, got ${error}`);
  return error;
}

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

test.each([429, 500, 502, 503, 504])("%i is asked again", async (code) => {
  await using server = serve(status(code, "X", "busy"), fine);
  expect(await server.api.get("/x")).toEqual({ metadata: { name: "y" } });
});

test("not before the server wants it", async () => {
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

test.each([400, 401, 404, 409, 410, 422])("%i is not", async (code) => {
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

test("what is no object of the API is no answer, whatever its status", async () => {
  for (const text of ["null", "[]", '"text"', "{}", '{"metadata":[]}', "<html>"]) {
    await using server = serve(() => new Response(text));
    expect(await failureOf(server.api.get("/x", { retries: 0 }))).toMatchObject({
      status: undefined,
      reason: "Unreachable",
    });
  }
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
  ["answer", (api) => api.get("/x", { retries: 0 }), "an answer of more than 64 MiB"],
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

test("nor is a line that is no event of a watch", async () => {
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
    message: "GET /x: http://127.0.0.1:1: nobody listens there (ECONNREFUSED)",
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

test("what is written says what it is", async () => {
  const types: (string | null)[] = [];
  const note = ({ headers }: Request) => {
    types.push(headers.get("content-type"));
    return fine();
  };
  await using server = serve(note, note, note, note);
  await server.api.create("/x", {});
  await server.api.update("/x/y", {});
  await server.api.patch("/x/y", []);
  await server.api.delete("/x/y");
  expect(types).toEqual(["application/json", "application/json", "application/json-patch+json", null]);
  expect(server.requests).toEqual(["POST /x", "PUT /x/y", "PATCH /x/y", "DELETE /x/y"]);
});

test("a query leaves out what is undefined and escapes the rest", () => {
  expect(withQuery("/x", { fieldSelector: "metadata.name=y", limit: undefined })).toBe(
    "/x?fieldSelector=metadata.name%3Dy",
  );
  expect(withQuery("/x", {})).toBe("/x");
});

const object = (version: number) => ({ metadata: { name: "y", resourceVersion: String(version) } });
const list =
  (version: number, ...items: object[]) =>
  () =>
    Response.json({ metadata: { resourceVersion: String(version) }, items });
const line = (type: string, what: object) => `${JSON.stringify({ type, object: what })}\n`;

/** A stream of these pieces, which then ends, or stays open. */
function stream(pieces: readonly string[], isOpen = false) {
  return () =>
    new Response(
      new ReadableStream({
        async start(controller) {
          for (const piece of pieces) {
            controller.enqueue(new TextEncoder().encode(piece));
            await takes(1); // apart from the next
          }
          if (!isOpen) controller.close();
        },
      }),
    );
}

/** The versions of the first three states of an object that is followed, and what was logged meanwhile. */
async function followThree(api: ApiClient) {
  const seen: (string | undefined)[] = [];
  const log = collectLog();
  const stop = new AbortController();
  const following = follow(api, { collection: SECRETS, name: "y" }, (now) => seen.push(now?.metadata.resourceVersion), {
    log,
    signal: stop.signal,
  });
  await until("three states", () => seen.length === 3, 30_000);
  stop.abort();
  await following;
  return { seen, log };
}

test("one object is followed: as it is, each change, its end; lines may come in any pieces", async () => {
  const changed = line("MODIFIED", object(8));
  await using server = serve(
    list(5, object(4)),
    stream([line("BOOKMARK", object(7)) + changed.slice(0, 9), changed.slice(9), line("DELETED", object(9))], true),
  );
  const { seen, log } = await followThree(server.api);
  expect(seen).toEqual(["4", "8", undefined]);
  expect(server.requests[0]).toBe(`GET ${SECRETS}?fieldSelector=metadata.name%3Dy`);
  expect(server.requests[1]).toMatch(
    /watch=1&allowWatchBookmarks=true&timeoutSeconds=\d+&fieldSelector=metadata.name%3Dy&resourceVersion=5$/,
  );
  expect(log.lines).toEqual([]);
});

test("a watch that ends, has expired, is refused or breaks is begun anew with a list; the same trouble is told once", async () => {
  const gone = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" };
  const refuse = status(403, "Forbidden", "cannot list");
  await using server = serve(
    ...[list(5), stream([])],
    ...[list(6), stream([line("ERROR", gone)])],
    ...[refuse, refuse],
    ...[list(7, object(7)), stream([], true)],
  );
  const { seen, log } = await followThree(server.api);
  expect(seen).toEqual([undefined, undefined, "7"]);
  const told = log.lines.map(({ fields }) => fields.reason);
  expect(told).toEqual([`GET ${SECRETS}: too old resource version`, expect.stringContaining("403 cannot list")]);
});

test("an empty list may be null, as Go writes it", async () => {
  await using server = serve(() => Response.json({ metadata: {}, items: null }));
  expect(await listAt(server.api, "/x")).toEqual({ metadata: {}, items: [] });
});

test.each([['"abc"'], ["{}"], ["[null]"], ["[{}]"], ['[{"metadata":null}]'], ['[{"metadata":{"name":1}}]']])(
  "what has other items than objects is no list: %s",
  async (items) => {
    await using server = serve(() => new Response(`{"metadata":{},"items":${items}}`));
    const { message, reason } = await failureOf(listAt(server.api, "/x"));
    expect([message, reason]).toEqual(["GET /x: an answer that is no list of the API", "Unreachable"]);
  },
);
