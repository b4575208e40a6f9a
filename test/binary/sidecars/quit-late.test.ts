import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { SIG } from "../../../src/shared/core/signal.ts";
import { childPath } from "../../harness/compiled.ts";
import { ebb, isQuitLine, startEbb, temporaryFolder, until } from "../../harness/ebb.ts";
import { freePort } from "../../harness/free-port.ts";
import { processState } from "../../harness/processes.ts";
import { never } from "../../harness/time.ts";
import { startRawServer } from "../../stand-in/raw-server.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";
import { app, quitPath, request } from "./quit-calls.ts";

test("the answer to a HEAD has no body, whatever its length says (RFC 9110, 9.3.2)", async () => {
  await using server = await startRawServer((socket) => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"));
  const call = ["quit", "--sidecar", "none", "--quit", `HEAD http://127.0.0.1:${server.port}/`, "--quit-timeout", "1s"];
  expect((await ebb(call)).code).toBe(0);
});

test("a quit for a sidecar that is late is repeated until it listens", async () => {
  await using server = await startRawServer((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  await server.close();
  const flags = ["--no-wait", "--sidecar", "none", "--quit", `http://127.0.0.1:${server.port}/quit`];
  await using started = startEbb(["run", ...flags, ...app]);
  await until("the command has started", () => started.stderr().includes("ebb: started the command"));
  await never("it gives up", () => [undefined, "Z"].includes(processState(started.pid)), 100);
  await server.open();
  const { code, log } = await started.ended;
  expect(code).toBe(7);
  expect(log.find(isQuitLine)).toMatchObject({ outcome: "answered", status: 200 });
});

describe("a sidecar that refuses connections", () => {
  /** The quit alone would try for an hour. */
  const run = (port: number, ...more: readonly string[]) => {
    const flags = ["--sidecar", "envoy", "--admin", `http://127.0.0.1:${port}`, "--quit-timeout", "1h"];
    return ["run", ...flags, ...more, ...app];
  };
  const missing = { level: "warn", outcome: expect.stringContaining("there is no envoy in this pod") };

  test.concurrent("of which nothing has answered is given up five seconds after the start", async () => {
    const { code, log } = await ebb(run(await freePort(), "--no-wait"));
    expect(log.find(isQuitLine)).toMatchObject(missing);
    expect(code).toBe(7);
  });

  test.concurrent("is given up, also where a quit goes before its own", async () => {
    const additional = `+http://127.0.0.1:${await freePort()}/bye`;
    const { code, log } = await ebb(run(await freePort(), "--no-wait", "--quit", additional));
    expect(log.filter(isQuitLine)).toMatchObject([{ outcome: "connection refused" }, missing]);
    expect(code).toBe(7);
  });

  test.concurrent("is given up, also after a stop signal that has ended the wait", async () => {
    await using started = startEbb(run(await freePort()));
    await until("it waits", () => started.stderr().includes("ebb: waiting until ready"));
    started.kill("SIGTERM");
    const { code, log } = await started.ended;
    expect(log.find(isQuitLine)).toMatchObject(missing);
    expect(code).toBe(143);
  });

  test.concurrent("is quit if it comes some seconds after ebb", async () => {
    await using server = await startRawServer((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    await server.close();
    await using started = startEbb(run(server.port, "--no-wait"));
    await until("the command has started", () => started.stderr().includes("ebb: started the command"));
    await never("it gives up", () => [undefined, "Z"].includes(processState(started.pid)), 2000);
    await server.open();
    await until("it is told", () => server.received() > 0);
    await server.close();
    expect((await started.ended).log.find(isQuitLine)).toMatchObject({ level: "info", outcome: "exited" });
  });

  test.concurrent("that has answered may come back as long as a quit may take", async () => {
    await using server = await startRawServer((socket) => socket.end("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n"));
    const flags = ["--sidecar", "envoy", "--admin", `http://127.0.0.1:${server.port}`, "--quit-timeout", "6s"];
    await using started = startEbb(["run", ...flags, ...app]);
    await until("it has answered", () => started.stderr().includes("HTTP 503"));
    await server.close();
    started.kill("SIGTERM");
    const { log } = await started.ended;
    expect(Number(log.find(isQuitLine)?.tookMs)).toBeGreaterThan(5900);
  });
});

test("an Envoy that the kubelet restarts as the command ends is quit", async () => {
  await using server = await startRawServer((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const flags = ["--sidecar", "envoy", "--admin", `http://127.0.0.1:${server.port}`];
  await using started = startEbb(["run", ...flags, "--", childPath(), "record", `${SIG.USR2}`]);
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  await server.close();
  started.kill("SIGUSR2");
  await never("it takes it for gone", () => [undefined, "Z"].includes(processState(started.pid)), 700);
  const before = server.received();
  await server.open();
  await until("it is told", () => server.received() > before);
  await server.close();
  expect((await started.ended).log.find(isQuitLine)).toMatchObject({ level: "info", outcome: "exited" });
});

test.each([
  ["that does not come back within two seconds is gone", [], "USR2", true],
  ["that the kubelet does not restart is gone at once", ["--restart-policy", "Never"], "USR2", false],
  ["that is gone after a stop signal is gone at once", [], "TERM", false],
] as const)("an Envoy %s", async (_, more, signal, isAwaited) => {
  await using sidecar = await fakeSidecar();
  const flags = ["--sidecar", "envoy", "--admin", sidecar.url, ...more];
  await using started = startEbb(["run", ...flags, "--", childPath(), "record", `${SIG[signal]}`]);
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  await sidecar[Symbol.asyncDispose]();
  started.kill(`SIG${signal}`);
  const quit = (await started.ended).log.find(isQuitLine);
  expect(quit).toMatchObject({ level: "info", outcome: "had exited already" });
  expect(Number(quit?.tookMs) >= 2000).toBe(isAwaited);
});

test("ebb asks the sidecar nothing while the command runs", async () => {
  await using sidecar = await fakeSidecar();
  const command = [childPath(), "clock", "0", "50000"];
  await using started = startEbb(["run", "--sidecar", "envoy", "--admin", sidecar.url, "--", ...command]);
  await until("the command runs", () => /^started /m.test(started.stdout()));
  const probes = sidecar.probes();
  const ended = await started.ended;
  expect({ code: ended.code, probes: sidecar.probes(), requests: sidecar.requests }).toEqual({
    code: 0,
    probes,
    requests: request,
  });
  expect(ended.log.filter(isQuitLine)).toHaveLength(1);
});

test("ebb quit: a native sidecar is never quit, and that is no failure", async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "annotations");
  await Bun.write(path, 'sidecar.istio.io/status="{\\"initContainers\\":[\\"istio-proxy\\"]}"\n');
  await using sidecar = await fakeSidecar();
  const flags = ["--pod-annotations", path, "--quit", `${sidecar.url}${quitPath}`];
  for (const name of ["auto", "istio"]) {
    const { code, log } = await ebb(["quit", ...flags, "--sidecar", name]);
    expect({ code, requests: sidecar.requests }).toEqual({ code: 0, requests: [] });
    expect(log[log.length - 1]?.msg).toContain("native");
  }
});

describe("a quit with +", () => {
  test("is asked before the sidecars, and answered", async () => {
    await using sidecar = await fakeSidecar();
    let before = -1;
    await using companion = await fakeSidecar({
      onQuit(_, response) {
        before = sidecar.requests.length;
        response.end();
      },
    });
    const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--quit-timeout", "20s"];
    const { log } = await ebb(["quit", ...flags, "--quit", `+${companion.url}/bye`]);
    expect({ before, after: sidecar.requests }).toEqual({ before: 0, after: request });
    expect(log.at(-2)).toMatchObject({ sidecar: "custom", outcome: "answered" });
  });

  test("that hangs has its whole time, and then the sidecars have theirs", async () => {
    await using companion = await fakeSidecar({ onQuit: () => undefined });
    await using sidecar = await fakeSidecar();
    const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--quit-timeout", "1s"];
    const start = Date.now();
    const { log } = await ebb(["quit", ...flags, "--quit", `+${companion.url}/bye`]);
    expect(log.at(-2)).toMatchObject({ sidecar: "custom", outcome: "no answer in time" });
    expect(log.at(-1)).toMatchObject({ sidecar: "envoy", outcome: "exited" });
    expect(Date.parse(String(log.at(-2)?.time)) - start).toBeGreaterThan(990); // its time counts from ebb's start
  });
});
