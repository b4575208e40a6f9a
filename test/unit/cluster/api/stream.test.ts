import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { connect } from "node:net";
import { ApiError } from "../../../../src/cluster/api/api-error.ts";
import { createApiClient } from "../../../../src/cluster/api/client.ts";
import { until } from "../../../harness/ebb.ts";
import { stopClock } from "../../../harness/fake-clock.ts";
import { listen } from "../../../harness/free-port.ts";
import { refuse, type StandInApi, startStandInApi } from "../../../stand-in/api-server/api-server.ts";
import { podOf, running } from "../reaper/core/stuck-pods.ts";

const POD = "/api/v1/namespaces/shop/pods/p";
const EXEC = `${POD}/exec?container=c&command=x`;
/** As an error has it: a command may hold a secret. */
const shown = `${POD}/exec?container=c&command=***`;
const PROTOCOL = "v5.channel.k8s.io";

function withPod(): StandInApi {
  const cluster = startStandInApi();
  cluster.objects.set(POD, podOf({ containers: { c: running } }));
  return cluster;
}

async function failureOf(promise: Promise<unknown>): Promise<ApiError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error(`expected an ApiError, got ${error}`);
  return error;
}

const text = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString();

test("messages go both ways, in order, as who asks; the end of the other side is the end", async () => {
  await using cluster = withPod();
  cluster.exec = {
    open: (far) => far.send(Buffer.from("hello")),
    message(far, bytes) {
      far.send(Buffer.concat([Buffer.from("got "), bytes]));
      far.close();
    },
  };
  using stream = await cluster.api.stream(EXEC, PROTOCOL);
  expect(text(await stream.next())).toBe("hello");
  stream.send(Buffer.from("this"));
  expect(text(await stream.next())).toBe("got this");
  expect(await stream.next()).toBeUndefined();
  expect(await stream.next()).toBeUndefined();
  expect(cluster.requests).toEqual([`STREAM ${EXEC} ${PROTOCOL}`]);
  expect(cluster.headers[0]?.get("authorization")).toBe("Bearer secret");
});

test("messages that are sent before anybody reads are kept, and text is bytes", async () => {
  await using cluster = withPod();
  cluster.exec = {
    open(far) {
      for (const word of ["a", "b", "c"]) far.send(Buffer.from(word));
      far.close();
    },
  };
  using stream = await cluster.api.stream(EXEC, PROTOCOL);
  const seen: (string | undefined)[] = [];
  for (let at = 0; at < 4; at++) seen.push(text(await stream.next()));
  expect(seen).toEqual(["a", "b", "c", undefined]);
});

test("a connection that is cut is the end too", async () => {
  await using cluster = withPod();
  cluster.exec = { open: (far) => far.cut() };
  const stream = await cluster.api.stream(EXEC, PROTOCOL).catch((error: unknown) => error);
  // it may be cut before the stream is open
  if (stream instanceof ApiError) return;
  expect(await (stream as Awaited<ReturnType<typeof cluster.api.stream>>).next()).toBeUndefined();
});

test("a stream that is refused has the server's reason, by a request that cannot start it", async () => {
  await using cluster = withPod();
  cluster.answer = ({ method }) =>
    method === "GET" ? refuse(403, 'User "x" cannot get resource "pods/exec"') : undefined;
  const error = await failureOf(cluster.api.stream(EXEC, PROTOCOL));
  expect(error).toMatchObject({ status: 403, message: `GET ${shown}: 403 User "x" cannot get resource "pods/exec"` });
  expect(cluster.requests).toEqual([`STREAM ${EXEC} ${PROTOCOL}`, `POST ${EXEC}`, `GET ${EXEC}`]);
});

test("a stream that may get and not create has the reason of the request that says more", async () => {
  await using cluster = withPod();
  cluster.answer = ({ method }) => refuse(403, method === "POST" ? "cannot create" : "");
  const error = await failureOf(cluster.api.stream(EXEC, PROTOCOL));
  expect(error).toMatchObject({ status: 403, message: `POST ${shown}: 403 cannot create` });
});

test("a refusal that the server does not explain has its status", async () => {
  await using cluster = withPod();
  cluster.answer = ({ headers }) =>
    headers.has("sec-websocket-protocol") ? refuse(503, "busy") : refuse(403, "other");
  expect(await failureOf(cluster.api.stream(EXEC, PROTOCOL))).toMatchObject({
    status: 503,
    message: `GET ${POD}/exec: 503`,
  });
});

test("how long the server wants to be left alone is known", async () => {
  await using cluster = withPod();
  cluster.answer = () => refuse(429, "slowly", { "retry-after": "3" });
  expect(await failureOf(cluster.api.stream(EXEC, PROTOCOL))).toMatchObject({ status: 429, retryAfterMs: 3000 });
});

test("a server that nobody is at, one that is silent, and one that speaks another protocol are told apart", async () => {
  const identity = async () => ({ headers: {} });
  const nowhere = createApiClient({ server: "http://127.0.0.1:1", namespace: "x", identity });
  expect(await failureOf(nowhere.stream(EXEC, PROTOCOL))).toMatchObject({
    reason: "Unreachable",
    message: `GET ${POD}/exec: http://127.0.0.1:1: connection refused`,
  });
  await using silent = withPod();
  silent.answer = () => new Promise(() => undefined);
  expect(await failureOf(silent.api.stream(EXEC, PROTOCOL, { timeoutMs: 50 }))).toMatchObject({ reason: "Timeout" });
  await using other = withPod();
  other.protocol = "v1.channel.k8s.io";
  const { message } = await failureOf(other.api.stream(EXEC, PROTOCOL));
  expect(message).toStartWith(`GET ${POD}/exec: ${other.url}: `);
  await until("nothing is left open", () => other.opened === other.closed, 30_000);
});

test("the second try, after a 401, has only what is left of the time", async () => {
  using clock = stopClock();
  await using cluster = withPod();
  const answers = [refuse(401, "expired"), undefined];
  cluster.answer = () => {
    clock.pass(30);
    return answers.shift();
  };
  const failed = await failureOf(cluster.api.stream(EXEC, PROTOCOL, { timeoutMs: 50 }));
  expect([failed.reason, answers.length]).toEqual(["Timeout", 0]);
});

test("a server that agrees on no protocol is not spoken to", async () => {
  const server = createServer().on("upgrade", ({ headers }, socket) => {
    const key = `${headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`; // RFC 6455, 1.3
    const accept = createHash("sha1").update(key).digest("base64");
    const head = ["101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"].join("\r\n");
    socket.on("error", () => undefined);
    socket.write(`HTTP/1.1 ${head}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
  });
  const port = await listen(server);
  const identity = async () => ({ headers: {} });
  const api = createApiClient({ server: `http://127.0.0.1:${port}`, namespace: "x", identity });
  const { message } = await failureOf(api.stream(EXEC, PROTOCOL));
  server.closeAllConnections();
  server.close();
  expect(message).toStartWith(`GET ${POD}/exec: http://127.0.0.1:${port}: `);
});

test("an aborted signal ends a stream with its reason: before it is open, and while it is read", async () => {
  await using cluster = withPod();
  const stop = new AbortController();
  const stream = await cluster.api.stream(EXEC, PROTOCOL, { signal: stop.signal });
  const reading = stream.next().catch((error: unknown) => error);
  stop.abort(new Error("enough"));
  expect(await reading).toEqual(new Error("enough"));
  const refused = await cluster.api.stream(EXEC, PROTOCOL, { signal: stop.signal }).catch((error: unknown) => error);
  expect(refused).toEqual(new Error("enough"));
  await until("nothing is left open", () => cluster.closed === 1, 30_000);
});

test("a stream that nobody reads is cut off once it has sent more than 1 MiB", async () => {
  await using cluster = withPod();
  const piece = Buffer.alloc(64 * 1024);
  cluster.exec = {
    open(far) {
      for (let at = 0; at < 64; at++) far.send(piece);
    },
  };
  using stream = await cluster.api.stream(EXEC, PROTOCOL);
  await until("it is cut off", () => cluster.closed === 1, 30_000);
  let bytes = 0;
  for (let next = await stream.next(); next !== undefined; next = await stream.next()) bytes += next.length;
  expect(bytes).toBeGreaterThan(2 ** 20);
  expect(bytes).toBeLessThan(2 ** 20 + 2 * piece.length);
});

test("a stream that is read may send as much as there is", async () => {
  await using cluster = withPod();
  const piece = Buffer.alloc(256 * 1024);
  const pieces = 16;
  cluster.exec = {
    open: (far) => far.send(piece),
    message: (far) => far.send(piece),
  };
  using stream = await cluster.api.stream(EXEC, PROTOCOL);
  let bytes = 0;
  for (let at = 0; at < pieces; at++) {
    bytes += (await stream.next())?.length ?? 0;
    stream.send(Buffer.from("more"));
  }
  expect(bytes).toBe(pieces * piece.length);
});

test("a stream goes through the proxy that the kubeconfig names", async () => {
  const asked: string[] = [];
  const proxy = createServer().on("connect", ({ url = "" }, client) => {
    asked.push(url);
    const target = connect(Number(url.split(":")[1]), "127.0.0.1", () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
  });
  const port = await listen(proxy);
  await using cluster = startStandInApi({ proxy: `http://user:secret@127.0.0.1:${port}` });
  cluster.objects.set(POD, podOf({ containers: { c: running } }));
  cluster.exec = { open: (far) => far.send(Buffer.from("hello")) };
  const stream = await cluster.api.stream(EXEC, PROTOCOL);
  expect(text(await stream.next())).toBe("hello");
  expect(asked).toEqual([new URL(cluster.url).host]);
  stream[Symbol.dispose]();
  proxy.closeAllConnections();
  proxy.close();
});

test("after a 401 the identity is asked for another token", async () => {
  let asked = 0;
  const identity = async (isRefused?: boolean) => {
    asked += isRefused ? 1 : 0;
    return { headers: { authorization: `Bearer ${asked}` } };
  };
  await using cluster = startStandInApi({ identity });
  cluster.objects.set(POD, podOf({ containers: { c: running } }));
  cluster.answer = ({ headers }) => (headers.get("authorization") === "Bearer 1" ? undefined : refuse(401, "expired"));
  using stream = await cluster.api.stream(EXEC, PROTOCOL);
  stream.send(Buffer.from("x"));
  expect(cluster.requests).toHaveLength(2);
});
