import { describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { probeOnce, whenReady } from "../../../../src/pod/probe/ready.ts";
import { type Probe, parseProbe, parseTarget } from "../../../../src/shared/sidecars/core/probe.ts";
import { temporaryFolder } from "../../../harness/ebb.ts";
import { stopClock } from "../../../harness/fake-clock.ts";
import { listen } from "../../../harness/free-port.ts";
import { ok } from "../../../stand-in/raw-server.ts";

/** A server on loopback that treats each connection so. `accepted` counts them, `open` those that are open. */
async function serve(treat: (socket: Socket) => void) {
  let count = 0;
  let open = 0;
  const server = createServer((socket) => {
    count += 1;
    open += 1;
    socket.on("error", () => undefined).resume();
    socket.on("close", () => {
      open -= 1;
    });
    treat(socket);
  });
  const port = await listen(server);
  return {
    url: `tcp://127.0.0.1:${port}`,
    http: parseProbe(`http://127.0.0.1:${port}/`) as Probe,
    accepted: () => count,
    open: () => open,
    treat: (other: typeof treat) => {
      treat = other;
    },
    [Symbol.dispose]: () => server.close(),
  };
}

const keep = () => undefined;
const close = (socket: Socket) => socket.end();
const reset = (socket: Socket) => socket.resetAndDestroy();

/** Waits for a target. Resolves with how long that took and the reasons, each once, until then. */
async function wait(url: string, withinMs = 5000) {
  const reasons = new Set<string>();
  const start = performance.now();
  await whenReady(parseTarget(url) as never, AbortSignal.timeout(withinMs), (reason) => reasons.add(reason));
  return { tookMs: performance.now() - start, reasons: [...reasons] };
}

describe("a user's target is ready once its connection has stayed open for 100 ms", () => {
  test("which takes one connection", async () => {
    using server = await serve(keep);
    const { tookMs, reasons } = await wait(server.url);
    expect(tookMs).toBeGreaterThanOrEqual(99);
    expect(reasons).toEqual([]);
    expect(server.accepted()).toBe(1);
  });

  test.each([
    ["closed at once", close],
    ["reset at once", reset],
    ["greeted and closed", (socket: Socket) => socket.end("too many connections")],
  ])("and not where it is %s, as by a proxy before a server that is down", async (_, treat) => {
    using server = await serve(treat);
    setTimeout(() => server.treat(keep), 300);
    const { tookMs, reasons } = await wait(server.url);
    expect(tookMs).toBeGreaterThanOrEqual(390);
    expect(reasons).toEqual(["closed within 100ms: a proxy may have accepted it for a server that is down"]);
  });

  test("and one that is never up is not", async () => {
    using server = await serve(close);
    expect(wait(server.url, 400)).rejects.toThrow();
    expect(await probeOnce(parseTarget(server.url) as never, 1000)).toMatchObject({ ready: false });
  });
});

test("a sidecar's own port is ready when it accepts", async () => {
  using server = await serve(close);
  expect(await probeOnce(parseProbe(server.url) as never, 1000)).toEqual({ ready: true });
});

describe("a wait", () => {
  const { signal: unending } = new AbortController();

  test("makes an attempt each 9 ms, and none after it was aborted", async () => {
    using folder = temporaryFolder();
    const reasons: string[] = [];
    const abort = new AbortController();
    using clock = stopClock();
    const waiting = whenReady(parseProbe(`file:${folder.path}/x`) as Probe, abort.signal, (why) => reasons.push(why));
    for (let ms = 0; ms < 90; ms++) clock.pass(1);
    expect(reasons).toHaveLength(11);
    abort.abort(new Error("given up"));
    expect(waiting).rejects.toThrow("given up");
    await clock.until("that is noticed", () => true);
    clock.pass(1000);
    expect(reasons).toHaveLength(11);
  });

  test("is over with the first answer, which closes what still hangs", async () => {
    const sockets: Socket[] = [];
    using server = await serve((socket) => void sockets.push(socket));
    const reasons: string[] = [];
    using clock = stopClock();
    const waiting = clock.timed(whenReady(server.http, unending, (why) => reasons.push(why)));
    await clock.until("three are asked", () => sockets.length >= 3);
    sockets[2]?.write(ok(""));
    await waiting;
    await clock.until("the others are closed", () => server.open() === 0);
  });

  test("has at most eight attempts under way, and hears the first one, however late", async () => {
    const sockets: Socket[] = [];
    using server = await serve((socket) => void sockets.push(socket));
    const reasons: string[] = [];
    let most = 0;
    using clock = stopClock();
    const waiting = clock.timed(whenReady(server.http, unending, (why) => reasons.push(why)));
    await clock.until("attempts were ended", () => {
      most = Math.max(most, server.open());
      return server.accepted() >= 30;
    });
    expect(most).toBeWithin(8, 12); // one that is ended is closed a little later
    expect(new Set(reasons)).toEqual(new Set(["no answer"]));
    sockets[0]?.write(ok(""));
    await waiting;
  });
});

test("a single attempt that hangs is not ready in time, and is ended", async () => {
  using server = await serve(keep);
  using clock = stopClock();
  const [verdict, tookMs] = await clock.timed(probeOnce(server.http, 250));
  expect(verdict).toEqual({ ready: false, reason: "no answer within 250ms" });
  expect(tookMs).toBeWithin(250, 260);
  await clock.until("its connection is closed", () => server.open() === 0);
});
