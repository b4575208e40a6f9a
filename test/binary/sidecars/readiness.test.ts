import { describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { childPath } from "../../harness/compiled.ts";
import { ebb, type Started, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { never } from "../../harness/time.ts";
import { drip, pour, type RawServer, startRawServer } from "../../stand-in/raw-server.ts";
import { type FakeSidecar, fakeSidecar } from "../../stand-in/sidecar.ts";
import { leaveSocket } from "./left-socket.ts";

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nLIVE\n";
const well = (socket: Socket): boolean => socket.write(ok);

/** `run` of a child with exit code 5, once the targets are ready. */
function startWaiting(targets: readonly string[], flags: readonly string[] = []): Started {
  const ready = targets.flatMap((target) => ["--ready", target]);
  return startEbb(["run", "--sidecar", "none", ...ready, ...flags, "--", childPath(), "exit", "5"]);
}

function saysNotReady(started: Started, reason: RegExp): Promise<boolean> {
  return until(`"waiting until ready", because ${reason}`, () => {
    const lines = started
      .stderr()
      .split("\n")
      .filter((line) => line.endsWith("}"));
    return lines
      .map((line) => JSON.parse(line))
      .some(({ msg, reason: r }) => msg === "ebb: waiting until ready" && reason.test(r));
  });
}

async function startsNow(started: Started): Promise<void> {
  const { code, log } = await started.ended;
  expect(code).toBe(5);
  expect(log.map(({ msg }) => msg)).toContain("ebb: ready");
}

describe("what answers so is not ready, with the reason, and ready once it answers well", () => {
  test.each<[string, RegExp, RawServer["answer"]]>([
    ["503", /^HTTP 503 "warming up"$/, (s) => s.write("HTTP/1.1 503 No\r\nContent-Length: 10\r\n\r\nwarming up")],
    ["404", /^HTTP 404$/, (s) => s.end("HTTP/1.1 404 Not Found\r\nConnection: close\r\n\r\n")],
    ["redirect", /^HTTP 302, a redirect to "\/other"$/, (s) => s.end("HTTP/1.1 302 Found\r\nLocation: /other\r\n\r\n")],
    ["nothing", /^no answer$/, () => undefined],
    ["a closed connection", /closed before the answer/, (s) => s.end()],
    ["a reset connection", /./, (s) => s.resetAndDestroy()],
    ["garbage", /^not HTTP: /, (s) => s.write("\x16\x03\x01\x00\x02garbage\r\n\r\n")],
    ["an endless body", /longer than 64 KiB/, (s) => pour(s, "HTTP/1.1 200 OK\r\n\r\nxxxxxxxxxx")],
    [
      "an endless chunked body",
      /longer than 64 KiB|not HTTP/,
      (s) => pour(s, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
    ],
    ["endless headers", /longer than 64 KiB/, (s) => pour(s, "HTTP/1.1 200 OK\r\nX-Header: something")],
    ["endless interim answers", /longer than 64 KiB/, (s) => pour(s, "HTTP/1.1 100 Continue\r\n\r\n")],
  ])("%s", async (_, reason, answer) => {
    await using server = await startRawServer(answer);
    await using started = startWaiting([`http://127.0.0.1:${server.port}/ready`]);
    await saysNotReady(started, reason);
    server.answer = well;
    await startsNow(started);
  });

  test("nobody, who comes later", async () => {
    await using server = await startRawServer(well);
    await server.close();
    await using started = startWaiting([`http://127.0.0.1:${server.port}/ready`]);
    await saysNotReady(started, /^connection refused$/);
    await server.open();
    await startsNow(started);
  });

  test("https where plain HTTP is spoken", async () => {
    await using server = await startRawServer(well);
    await using started = startWaiting([`https://127.0.0.1:${server.port}/ready`], ["--wait-timeout", "2s"]);
    await saysNotReady(started, /./);
    expect((await started.ended).code).toBe(69);
  });
});

test.each<[string, RawServer["answer"]]>([
  ["a slow answer, byte by byte", (socket) => void drip(socket, ok, 5)],
  ["HTTP/1.0 without a length", (socket) => socket.end("HTTP/1.0 200 OK\r\n\r\nLIVE")],
])("a good answer is a good answer: %s", async (_, answer) => {
  await using server = await startRawServer(answer);
  await using started = startWaiting([`http://127.0.0.1:${server.port}/ready`]);
  await startsNow(started);
});

test("the reason is that there was no answer, if nothing at all was heard in time", async () => {
  await using server = await startRawServer(() => undefined);
  const ready = ["--ready", `http://127.0.0.1:${server.port}/ready`];
  const { code, log } = await ebb(["run", "--sidecar", "none", ...ready, "--wait-timeout", "20ms", "--", "true"]);
  const reason = `http://127.0.0.1:${server.port}/ready: no answer`;
  expect(log[0]?.msg).toBe("ebb: did not start the command: not ready in time");
  expect(String(log[0]?.reason).replace(/ yet$/, "")).toBe(`not ready within 20ms: ${reason}`);
  expect(code).toBe(69);
});

test("all of several targets must be ready", async () => {
  await using first = await fakeSidecar();
  await using second = await fakeSidecar({ isReady: false });
  await using started = startWaiting([`${first.url}/ready`, `${second.url}/ready`]);
  await saysNotReady(started, /503/);
  await until("it is asked again and again", () => second.probes() > 10);
  expect(started.stderr()).not.toContain("ebb: started the command");
  second.isReady = true;
  await startsNow(started);
});

test.each(["127.0.0.1", "::1"])("localhost is both loopbacks: a sidecar that listens on %s alone", async (host) => {
  await using sidecar: FakeSidecar = await fakeSidecar({ host, isReady: false });
  const flags = ["--sidecar", "envoy", "--admin", `http://localhost:${sidecar.port}`];
  await using started = startEbb(["run", ...flags, "--", childPath(), "exit", "5"]);
  await until("it is asked", () => sidecar.probes() > 0);
  sidecar.isReady = true;
  await startsNow(started);
  expect(sidecar.requests).toEqual(["POST /quitquitquit"]);
});

describe("ebb wait waits for", () => {
  const wait = (target: string) => startEbb(["wait", "--sidecar", "none", target, "--", childPath(), "exit", "5"]);

  test("tcp:// until somebody accepts", async () => {
    await using server = await startRawServer(() => undefined);
    await server.close();
    await using started = wait(`tcp://127.0.0.1:${server.port}`);
    await saysNotReady(started, /^connection refused$/);
    await server.open();
    await startsNow(started);
  });

  test("unix: until somebody accepts, also where an old socket lies", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "app.sock");
    await using started = wait(`unix:${path}`);
    await saysNotReady(started, /^connection refused$/);
    await leaveSocket(path);
    await never("it is ready", () => started.stderr().includes("ebb: ready"), 30);
    rmSync(path);
    const server = createServer().listen(path);
    await startsNow(started);
    server.close();
  });

  test("file:...?nonempty until it has contents", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "secrets");
    await using started = wait(`file:${path}?nonempty`);
    await saysNotReady(started, /^no such file$/);
    await Bun.write(path, "");
    await saysNotReady(started, /^the file is empty$/);
    await Bun.write(path, "x".repeat(100_000));
    await startsNow(started);
  });
});
