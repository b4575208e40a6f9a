import { describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import { join } from "node:path";
import { childPath } from "../../compiled.ts";
import { ebb, startEbb, temporaryFolder, until } from "../../harness.ts";
import { processState } from "../../processes.ts";
import { pour, type RawServer, startRawServer } from "../../stand-in/raw-server.ts";
import { type FakeSidecar, type FakeSidecarOptions, fakeSidecar } from "../../stand-in/sidecar.ts";
import { never } from "../../time.ts";

const quitPath = "/quitquitquit";
const request = [`POST ${quitPath}`];
const app = ["--", childPath(), "exit", "7"];

/** Both ways to quit an Envoy whose admin interface is there. */
const ways: readonly [string, (sidecar: FakeSidecar) => readonly string[], code: { ok: number; failed: number }][] = [
  ["run", ({ url }) => ["run", "--sidecar", "envoy", "--admin", url], { ok: 7, failed: 7 }],
  ["quit", ({ url }) => ["quit", "--sidecar", "envoy", "--admin", url], { ok: 0, failed: 69 }],
];

describe.each(ways)("ebb %s", (name, flagsFor, code) => {
  const command = name === "run" ? app : [];

  test.each<[string, FakeSidecarOptions["onQuit"], string | undefined, number]>([
    ["takes it and goes", undefined, "gone", 1],
    ["answers 200 and stays", (_, response) => response.end("OK\n"), "answered, but still there", 1],
    ["never answers", () => undefined, "no answer in time", 1],
    ["always says 503", (_, response) => response.writeHead(503).end(), "HTTP 503", 3],
    ["breaks every connection", (incoming) => incoming.socket.destroy(), undefined, 3],
  ])("a sidecar that %s", async (_, onQuit, outcome, times) => {
    await using sidecar = await fakeSidecar(onQuit === undefined ? {} : { onQuit });
    const ended = await ebb([
      ...flagsFor(sidecar),
      "--quit-timeout",
      times === 1 && outcome !== "gone" ? "1s" : "20s",
      ...command,
    ]);
    expect(ended.code).toBe(outcome === "gone" ? code.ok : code.failed);
    const report = ended.log.find(({ msg }) => msg === "ebb: quit");
    if (outcome !== undefined) expect(report?.outcome).toBe(outcome);
    expect(sidecar.requests).toEqual(Array(times).fill(request[0]));
  });

  test("a 5xx and a broken connection are repeated until the sidecar takes it", async () => {
    let tries = 0;
    await using sidecar = await fakeSidecar({
      onQuit(incoming, response) {
        tries += 1;
        if (tries === 1) incoming.socket.destroy();
        else response.writeHead(tries === 2 ? 500 : 200, { connection: "close" }).end();
        if (tries === 3) void sidecar[Symbol.asyncDispose]();
      },
    });
    const ended = await ebb([...flagsFor(sidecar), ...command]);
    expect(ended.code).toBe(code.ok);
    expect(ended.log.find(({ msg }) => msg === "ebb: quit")).toMatchObject({ outcome: "gone", status: 200 });
    expect(sidecar.requests).toHaveLength(3);
  });

  test("a sidecar that ends before its answer is gone: pilot-agent does, now and then", async () => {
    await using sidecar = await fakeSidecar({
      onQuit(incoming) {
        void sidecar[Symbol.asyncDispose]();
        incoming.socket.destroy();
      },
    });
    const ended = await ebb([...flagsFor(sidecar), ...command]);
    expect(ended.code).toBe(code.ok);
    expect(ended.log.find(({ msg }) => msg === "ebb: quit")).toMatchObject({ level: "info", outcome: "gone" });
    expect(sidecar.requests).toEqual(request);
  });

  test("quits go out in parallel, each with its own timeout", async () => {
    const hanging = await Promise.all([1, 2, 3].map(() => fakeSidecar({ onQuit: () => undefined })));
    await using good = await fakeSidecar();
    const quits = [...hanging, good].flatMap(({ url }) => ["--quit", `${url}${quitPath}`]);
    const call = [name, "--sidecar", "none", ...quits, "--quit-timeout", "2s", ...command];
    const ended = await ebb(call);
    expect(ended.code).toBe(code.failed);
    for (const sidecar of [...hanging, good]) expect(sidecar.requests).toEqual(request);
    const reports = ended.log.filter(({ msg }) => msg === "ebb: quit");
    expect(reports.map(({ outcome }) => outcome).toSorted()).toEqual([
      "answered",
      ...Array(3).fill("no answer in time"),
    ]);
    for (const { tookMs } of reports) expect(Number(tookMs)).toBeLessThan(5500); // one after the other: 6 s
    for (const sidecar of hanging) await sidecar[Symbol.asyncDispose]();
  });

  test("--header and --quit 'METHOD URL' are sent as they are given", async () => {
    const seen: unknown[] = [];
    await using sidecar = await fakeSidecar({
      onQuit({ method, url, headers }, response) {
        seen.push([method, url, headers["x-token"], headers["x-empty"], headers.host]);
        response.end();
      },
    });
    const headers = ["--header", "X-Token: a: b", "--header", "x-empty:"];
    await ebb([name, "--sidecar", "none", "--quit", `put ${sidecar.url}/a/b?c=d`, ...headers, ...command]);
    expect(seen).toEqual([["PUT", "/a/b?c=d", "a: b", "", `127.0.0.1:${sidecar.port}`]]);
  });

  test.each([
    ["instead of the sidecar's own", "", 0],
    ["besides the sidecar's own, with +", "+", 1],
  ])("--quit is asked %s", async (_, mark, times) => {
    await using sidecar = await fakeSidecar();
    await using other = await fakeSidecar();
    await ebb([...flagsFor(sidecar), "--quit", `${mark}${other.url}/other`, "--quit-timeout", "2s", ...command]);
    expect(other.requests).toEqual(["POST /other"]);
    expect(sidecar.requests).toEqual(Array(times).fill(request[0]));
  });

  test("Envoy's admin interface on a unix socket", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "admin.sock");
    const seen: string[] = [];
    const server = createServer(({ method, url }, response) => {
      seen.push(`${method} ${url}`);
      response.end();
      if (method === "POST") server.close();
    }).listen(path);
    const ended = await ebb([name, "--sidecar", "envoy", "--admin", `unix:${path}`, ...command]);
    expect(ended.code).toBe(code.ok);
    // an answer that takes longer than 9 ms is asked for once more
    expect([...new Set(seen)]).toEqual(name === "run" ? ["GET /ready", ...request] : request);
  });

  test.each<[string, (url: string) => Record<string, string>, number]>([
    ["ISTIO_QUIT_API", (url) => ({ ISTIO_QUIT_API: url }), 1],
    ["ISTIO_QUIT_API with a slash", (url) => ({ ISTIO_QUIT_API: `${url}/` }), 1],
    ["ENVOY_KILL_API", (url) => ({ ENVOY_KILL_API: `${url}${quitPath}` }), 1],
    ["GENERIC_QUIT_ENDPOINTS", (url) => ({ GENERIC_QUIT_ENDPOINTS: `${url}${quitPath},${url}${quitPath}` }), 2],
    ["CSQL_PROXY_QUIT_URLS", (url) => ({ CSQL_PROXY_QUIT_URLS: `${url}${quitPath} ${url}${quitPath}` }), 2],
    ["EBB_QUIT", (url) => ({ EBB_QUIT: `POST ${url}${quitPath}, ${url}${quitPath}` }), 2],
  ])("%s says what to quit", async (_, variables, times) => {
    await using sidecar = await fakeSidecar({ onQuit: (_, response) => response.end() });
    const env = { ...variables(sidecar.url), START_WITHOUT_ENVOY: "true", EBB_DETECT: "0s", EBB_QUIT_TIMEOUT: "300ms" };
    await ebb([name, ...command], { env });
    expect(sidecar.requests).toEqual(Array(times).fill(request[0]));
  });

  test.each(["600h", "500us"])("--quit-timeout %s, longer or shorter than timers are", async (timeout) => {
    await using sidecar = await fakeSidecar();
    const ended = await ebb([...flagsFor(sidecar), "--quit-timeout", timeout, ...command]);
    expect(timeout === "600h" ? [code.ok] : [code.ok, code.failed]).toContain(ended.code);
    expect(ended.stderr).not.toContain("bug in ebb");
    if (timeout === "600h") expect(sidecar.requests).toEqual(request);
  });
});

describe("the child's exit code is kept, and ebb ends in time, whatever a quit answers", () => {
  test.each<[string, RawServer["answer"]]>([
    ["garbage", (socket) => socket.write("\x16\x03\x01garbage\r\n\r\n")],
    ["without end", (socket) => pour(socket, "HTTP/1.1 200 OK\r\n\r\nxxxx")],
    ["headers without end", (socket) => pour(socket, "HTTP/1.1 200 OK\r\nX: y")],
    ["a redirect to itself", (socket) => socket.end("HTTP/1.1 307 Again\r\nLocation: /quitquitquit\r\n\r\n")],
    ["half an answer", (socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx")],
    ["a reset", (socket) => socket.resetAndDestroy()],
  ])("%s", async (_, answer) => {
    await using server = await startRawServer(answer);
    const flags = ["--sidecar", "none", "--quit", `http://127.0.0.1:${server.port}/quit`, "--quit-timeout", "1s"];
    const { code, log } = await ebb(["run", ...flags, ...app]);
    expect(code).toBe(7);
    expect(log).toContainEqual(expect.objectContaining({ level: "warn", msg: "ebb: quit" }));
    expect(Number(log.at(-1)?.quitMs)).toBeLessThan(4500);
    expect(server.received()).toBeGreaterThan(0);
  });
});

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
  await until("the command has started", () => started.stderr().includes("ebb: started"));
  await never("it gives up", () => [undefined, "Z"].includes(processState(started.pid)), 100);
  await server.open();
  const { code, log } = await started.ended;
  expect(code).toBe(7);
  expect(log.find(({ msg }) => msg === "ebb: quit")).toMatchObject({ outcome: "answered", status: 200 });
});

test("nothing is asked while the command runs, though ebb prepares the quit meanwhile", async () => {
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
  expect(ended.log.filter(({ msg }) => msg === "ebb: quit")).toHaveLength(1);
});

test("a sidecar that died while the command ran is gone already", async () => {
  await using sidecar = await fakeSidecar();
  const flags = ["--sidecar", "envoy", "--admin", sidecar.url];
  await using started = startEbb(["run", ...flags, "--", childPath(), "record"]);
  await until("the child is ready", () => started.stdout().includes("ready\n"));
  await sidecar[Symbol.asyncDispose]();
  started.kill("SIGTERM");
  const { code, log } = await started.ended;
  expect(code).toBe(0);
  expect(log.find(({ msg }) => msg === "ebb: quit")?.outcome).toBe("gone already");
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
  const order: string[] = [];
  const noting = (name: string): FakeSidecarOptions => ({
    onQuit(_, response) {
      order.push(name);
      response.end();
    },
  });

  test("is asked before the sidecars, and answered", async () => {
    await using companion = await fakeSidecar(noting("companion"));
    await using sidecar = await fakeSidecar(noting("sidecar"));
    const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--quit-timeout", "20s"];
    const { log } = await ebb(["quit", ...flags, "--quit", `+${companion.url}/bye`]);
    expect(order).toEqual(["companion", "sidecar"]);
    expect(log.at(-2)).toMatchObject({ sidecar: "custom", outcome: "answered" });
  });

  test("that hangs has its whole time, and then the sidecars have theirs", async () => {
    await using companion = await fakeSidecar({ onQuit: () => undefined });
    await using sidecar = await fakeSidecar();
    const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--quit-timeout", "1s"];
    const start = Date.now();
    const { log } = await ebb(["quit", ...flags, "--quit", `+${companion.url}/bye`]);
    expect(log.at(-2)).toMatchObject({ sidecar: "custom", outcome: "no answer in time" });
    expect(log.at(-1)).toMatchObject({ sidecar: "envoy", outcome: "gone" });
    expect(Date.parse(String(log.at(-2)?.time)) - start).toBeGreaterThan(990); // its time counts from ebb's start
  });
});
