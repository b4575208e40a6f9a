import { describe, expect, test } from "bun:test";
import { logQuit, quitAll } from "../../../../src/pod/quit/quit.ts";
import type { QuitReport, SendOptions } from "../../../../src/pod/quit/send-quit.ts";
import type { Log } from "../../../../src/shared/output/log.ts";
import { parseQuit } from "../../../../src/shared/sidecars/core/quit.ts";
import type { QuitRequest, Sidecar } from "../../../../src/shared/sidecars/core/sidecar.ts";
import { stopClock } from "../../../harness/fake-clock.ts";
import { freePort } from "../../../harness/free-port.ts";

/** A server that notes its requests as `METHOD /path`, with what is in the header x-token. */
interface Asked extends AsyncDisposable {
  readonly port: number;
  readonly requests: readonly string[];
  quit(path: string, more?: Partial<QuitRequest>): QuitRequest;
}

function serve(statusOf: (path: string) => number | Promise<number> = () => 200): Asked {
  const requests: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch({ url, method, headers }) {
      const { pathname } = new URL(url);
      requests.push([method, pathname, headers.get("x-token") ?? []].flat().join(" "));
      return new Response("", { status: await statusOf(pathname) });
    },
  });
  const port = server.port as number;
  return {
    port,
    requests,
    quit: (path, more) => ({ ...(parseQuit(`http://127.0.0.1:${port}${path}`) as QuitRequest), ...more }),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const bare: Sidecar = { name: "custom", isNative: false, envoy: undefined, ready: [], quits: [], processes: [] };
const options: SendOptions = { timeoutMs: 5000, headers: [], known: () => "unknown" };
const none = "no-such-program-here";

describe("the requests to quit", () => {
  test("with + are answered before the others are sent", async () => {
    const { promise, resolve } = Promise.withResolvers<number>();
    await using server = serve((path) => (path === "/first" ? promise : 200));
    const first = { ...bare, quits: [server.quit("/first", { isAdditional: true }), server.quit("/second")] };
    const other = { ...bare, quits: [server.quit("/other")] };
    using clock = stopClock();
    const done = quitAll([first, other], options);
    await clock.until("the first is asked", () => server.requests.length > 0);
    expect(server.requests).toEqual(["POST /first"]);
    resolve(200);
    expect((await done).map(({ outcome }) => outcome)).toEqual(["answered", "answered", "answered"]);
    expect([...server.requests].sort()).toEqual(["POST /first", "POST /other", "POST /second"]);
  });

  test.each<[string, number, (port: number) => Partial<QuitRequest>]>([
    ["that fail once keep the others no longer", 0, (port) => parseQuit(`http://127.0.0.1:${port}/`) as QuitRequest],
    ["that hang keep the others for half of --quit-timeout", 2500, () => ({})],
  ])("with + %s", async (_, sentAfterMs, more) => {
    const { promise, resolve } = Promise.withResolvers<number>();
    const sentAt: number[] = [];
    await using server = serve((path) => {
      if (path !== "/second") return promise;
      sentAt.push(performance.now());
      return 200;
    });
    const additional = { ...server.quit("/first"), ...more(await freePort()), isAdditional: true } as const;
    using clock = stopClock();
    const start = performance.now();
    const sidecar = { ...bare, quits: [additional, server.quit("/second")] };
    const [reports] = await clock.timed(quitAll([sidecar], options));
    resolve(200);
    expect(reports.map(({ ok }) => ok)).toEqual([false, true]);
    expect((sentAt[0] as number) - start).toBeWithin(sentAfterMs, sentAfterMs + 100);
  });

  test("have the user's headers, which win over a sidecar's own", async () => {
    await using server = serve();
    const own = server.quit("/own", { headers: [["X-Token", "own"]] });
    await quitAll([{ ...bare, quits: [own] }], options);
    await quitAll([{ ...bare, quits: [own] }], { ...options, headers: [["x-token", "given"]] });
    expect(server.requests).toEqual(["POST /own own", "POST /own given"]);
  });

  test("go to the second place where nobody listens at the first", async () => {
    await using server = serve();
    const nobody = parseQuit(`http://127.0.0.1:${await freePort()}/`) as QuitRequest;
    const fallback = { target: server.quit("/second").target };
    const [report] = await quitAll([{ ...bare, quits: [{ ...nobody, fallback }] }], options);
    expect(report).toMatchObject({ ok: true, request: `POST http://127.0.0.1:${server.port}/second` });
  });
});

describe("where a sidecar's processes are the last resort,", () => {
  test.each([
    ["they are signalled after a quit that is refused", 403, [`POST http://127.0.0.1:PORT/`, `signal ${none}`]],
    ["they are left alone after one that is taken", 200, [`POST http://127.0.0.1:PORT/`]],
  ])("%s", async (_, status, requests) => {
    await using server = serve(() => status);
    const reports = await quitAll([{ ...bare, quits: [server.quit("/")], lastResort: [none] }], options);
    expect(reports.map(({ request }) => request.replace(`${server.port}`, "PORT"))).toEqual(requests);
  });
});

test("processes that the user names are signalled beside the quit, and that there is none is a failure", async () => {
  await using server = serve();
  const reports = await quitAll([{ ...bare, quits: [server.quit("/")], processes: [none] }], options);
  expect(reports.map(({ ok }) => ok)).toEqual([true, false]);
});

test("a bug is the report of its sidecar, and the others are quit", async () => {
  await using server = serve();
  const broken: Sidecar = { ...bare, name: "envoy", quits: [server.quit("/broken")] };
  const known = (name: Sidecar["name"]) => {
    if (name === "envoy") throw new Error("planted");
    return "unknown" as const;
  };
  const reports = await quitAll([broken, { ...bare, quits: [server.quit("/")] }], { ...options, known });
  expect(reports).toEqual([
    expect.objectContaining({ sidecar: "envoy", ok: false, error: expect.stringContaining("planted") }),
    expect.objectContaining({ sidecar: "custom", ok: true }),
  ]);
});

test.each<[Partial<QuitReport>, "warn" | "error", string]>([
  [{ ok: true }, "warn", "info asked the sidecar to exit"],
  [{ ok: true, isAbsent: true }, "warn", "info the sidecar is gone, or was never here"],
  [{ ok: false }, "warn", "warn could not shut down the sidecar"],
  [{ ok: false }, "error", "error could not shut down the sidecar"],
])("the report %j is logged, with failures at %s, as %s", (report, failed, line) => {
  const lines: string[] = [];
  const at = (level: string) => (_: object, msg: string) => lines.push(`${level} ${msg}`);
  const log = { info: at("info"), warn: at("warn"), error: at("error") } as unknown as Log;
  logQuit(log, failed, { sidecar: "envoy", request: "POST /", ok: true, outcome: "", tookMs: 1, ...report });
  expect(lines).toEqual([line]);
});
