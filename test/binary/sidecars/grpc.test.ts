import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { CLOSED_AT_ONCE } from "../../../src/pod/probe/core/grpc-health.ts";
import { ebb, startEbb, until } from "../../harness/ebb.ts";
import { listen } from "../../harness/free-port.ts";
import { startGrpcServer } from "../../stand-in/grpc.ts";

setDefaultTimeout(20_000);

const pem = join(import.meta.dirname, "../../fixtures/localhost.pem");
const tls = { cert: readFileSync(pem), key: readFileSync(pem) };
const wait = ["wait", "--sidecar", "none"];
/** Long enough for an answer on a busy machine. */
const brief = [...wait, "--wait-timeout", "1s"];

test("a gRPC server is ready when its health service says SERVING, and is asked over connections that are kept", async () => {
  await using server = await startGrpcServer();
  await using waiting = startEbb([...wait, `grpc://localhost:${server.port}`]);
  await until("it was asked often", () => server.calls.length >= 100);
  expect(waiting.stderr()).toContain("its health service says NOT_SERVING");
  expect(server.connections.made).toBeLessThan(0.9 * server.calls.length); // an attempt without an answer in time gives its own up
  server.statuses.set("", 1);
  expect((await waiting.ended).code).toBe(0);
  await until("all connections are closed", () => server.connections.open === 0);
});

test("the app starts when the service that the target names is SERVING", async () => {
  await using server = await startGrpcServer();
  const target = `grpc://127.0.0.1:${server.port}/shop.Orders`;
  const run = (limit: string) =>
    ebb(["run", "--sidecar", "none", "--wait-timeout", limit, "--ready", target, "--", "echo", "started"]);
  expect(await run("300ms")).toMatchObject({ code: 69, stdout: "" });
  server.statuses.set("shop.Orders", 1);
  expect(await run("20s")).toMatchObject({ code: 0, stdout: "started\n" });
});

test.each([
  [0, "its health service says UNKNOWN"],
  [3, 'its health service does not know "db"'],
  [-5, 'its health service does not know "db"'],
  [-7, "gRPC status PERMISSION_DENIED"],
  [-12, "it has no gRPC health service (add grpc.health.v1.Health to it, or wait for its port with tcp://)"],
])("the status %d is a reason in words", async (status, reason) => {
  await using server = await startGrpcServer();
  server.statuses.set("db", status);
  const target = `grpc://127.0.0.1:${server.port}/db`;
  const { code, log } = await ebb([...brief, "--quiet", target]);
  expect({ code, log }).toMatchObject({ code: 69, log: [{ reason: `not ready within 1s: ${target}: ${reason}` }] });
});

test("a server that is not there yet, and one that is no gRPC server, are reasons in words", async () => {
  const first = await startGrpcServer();
  await first[Symbol.asyncDispose]();
  await using waiting = startEbb([...wait, `grpc://127.0.0.1:${first.port}`]);
  await until("it is refused", () => waiting.stderr().includes("connection refused"));
  const server = Bun.serve({ hostname: "127.0.0.1", port: first.port, fetch: () => new Response() });
  await until("it is no gRPC server", () => waiting.stderr().includes("it speaks HTTP/1, not gRPC"));
  await server.stop(true);
  waiting.kill("SIGTERM");
  expect((await waiting.ended).code).toBe(143);
});

const greets = (socket: Socket) => socket.end("SSH-2.0-OpenSSH_9\r\n");
const refuses = (socket: Socket) => socket.once("data", () => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
test.each<[string, (socket: Socket) => unknown, string]>([
  ["refuses in HTTP/1", refuses, "it speaks HTTP/1, not gRPC: wait for it with http://"],
  ["speaks TLS", (socket) => socket.end("\x15\x03\x01\0\x02\x02\x16"), "it speaks TLS: wait for it with grpcs://"],
  ["says something else", greets, "the answer is not HTTP/2, or breaks its rules"],
  ["closes each connection", (socket) => socket.end(), CLOSED_AT_ONCE],
  ["resets each connection", (socket) => socket.resetAndDestroy(), CLOSED_AT_ONCE],
])("a server that %s is one reason", async (_, serve, reason) => {
  const attempts = { made: 0 };
  const server = createServer((socket) => {
    attempts.made += 1;
    socket.on("error", () => undefined);
    serve(socket);
  });
  const port = await listen(server);
  await using waiting = startEbb([...wait, "--log-level", "debug", `grpc://127.0.0.1:${port}`]);
  await until("it was asked often", () => attempts.made >= 50);
  waiting.kill("SIGTERM");
  const { log } = await waiting.ended;
  server.close();
  const reasons = new Set(log.flatMap(({ reason }) => (reason === "no answer" ? [] : (reason ?? []))));
  expect([...reasons]).toEqual([reason]);
});

test("the call is gRPC's, with the user's headers", async () => {
  await using server = await startGrpcServer();
  server.statuses.set("", 1);
  const target = `grpc://localhost:${server.port}`;
  expect((await ebb([...wait, "--header", "Authorization: Bearer abc", target])).code).toBe(0);
  expect(server.calls[0]).toMatchObject({
    ":method": "POST",
    ":scheme": "http",
    ":path": "/grpc.health.v1.Health/Check",
    ":authority": `localhost:${server.port}`,
    te: "trailers",
    "content-type": "application/grpc",
    "user-agent": "ebb",
    authorization: "Bearer abc",
  });
});

test("grpcs:// asks over TLS, and verifies the certificate", async () => {
  await using server = await startGrpcServer(tls);
  server.statuses.set("", 1);
  const target = `grpcs://localhost:${server.port}`;
  expect((await ebb([...brief, target])).stderr).toContain("its certificate is self-signed");
  expect((await ebb([...wait, "--ca-file", pem, target])).code).toBe(0);
  expect((await ebb([...wait, "--ca-file", pem, `grpcs://127.0.0.1:${server.port}`])).code).toBe(0);
  expect((await ebb([...brief, `grpc://localhost:${server.port}`])).code).toBe(69);
});

test("ebb status asks it, too", async () => {
  await using server = await startGrpcServer();
  const flags = ["--json", "--sidecar", "none", "--ready", `grpc://127.0.0.1:${server.port}`];
  const shown = JSON.parse((await ebb(["status", ...flags])).stdout);
  expect(JSON.stringify(shown.sidecars)).toContain("NOT_SERVING");
});
