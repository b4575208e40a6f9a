import { describe, expect, test } from "bun:test";
import { createServer } from "node:http";
import { join } from "node:path";
import { ebb, isQuitLine, temporaryFolder } from "../../harness/ebb.ts";
import { pour, type RawServer, startRawServer } from "../../stand-in/raw-server.ts";
import { type FakeSidecar, type FakeSidecarOptions, fakeSidecar } from "../../stand-in/sidecar.ts";
import { app, quitPath, request } from "./quit-calls.ts";

/** Both ways to quit an Envoy whose admin interface is there. */
const ways: readonly [string, (sidecar: FakeSidecar) => readonly string[], code: { ok: number; failed: number }][] = [
  ["run", ({ url }) => ["run", "--sidecar", "envoy", "--admin", url], { ok: 7, failed: 7 }],
  ["quit", ({ url }) => ["quit", "--sidecar", "envoy", "--admin", url], { ok: 0, failed: 69 }],
];

describe.each(ways)("ebb %s", (name, flagsFor, code) => {
  const command = name === "run" ? app : [];

  test.each<[string, FakeSidecarOptions["onQuit"], string | undefined, number]>([
    ["takes it and goes", undefined, "exited", 1],
    ["answers 200 and stays", (_, response) => response.end("OK\n"), "answered, but still runs", 1],
    ["never answers", () => undefined, "no answer in time", 1],
    ["breaks every connection", (incoming) => incoming.socket.destroy(), undefined, 3],
  ])("a sidecar that %s", async (_, onQuit, outcome, times) => {
    await using sidecar = await fakeSidecar(onQuit === undefined ? {} : { onQuit });
    const ended = await ebb([
      ...flagsFor(sidecar),
      "--quit-timeout",
      times === 1 && outcome !== "exited" ? "1s" : "20s",
      ...command,
    ]);
    expect(ended.code).toBe(outcome === "exited" ? code.ok : code.failed);
    const report = ended.log.find(isQuitLine);
    if (outcome !== undefined) expect(report?.outcome).toBe(outcome);
    expect(report?.how === undefined).toBe(outcome === "exited");
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
    expect(ended.log.find(isQuitLine)).toMatchObject({ outcome: "exited", status: 200 });
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
    expect(ended.log.find(isQuitLine)).toMatchObject({ level: "info", outcome: "exited" });
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
    const reports = ended.log.filter(isQuitLine);
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
    const env = {
      ...variables(sidecar.url),
      START_WITHOUT_ENVOY: "true",
      EBB_DETECT_TIMEOUT: "0s",
      EBB_QUIT_TIMEOUT: "300ms",
    };
    await ebb([name, ...command], { env });
    expect(sidecar.requests).toEqual(Array(times).fill(request[0]));
  });

  test("--quit-timeout 500us, shorter than timers are", async () => {
    await using sidecar = await fakeSidecar();
    const ended = await ebb([...flagsFor(sidecar), "--quit-timeout", "500us", ...command]);
    expect([code.ok, code.failed]).toContain(ended.code);
    expect(ended.stderr).not.toContain("bug in ebb");
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
    expect(log).toContainEqual(expect.objectContaining({ level: "warn", msg: "ebb: could not shut down the sidecar" }));
    expect(Number(log.at(-1)?.quitMs)).toBeLessThan(4500);
    expect(server.received()).toBeGreaterThan(0);
  });
});
