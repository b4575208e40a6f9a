import { describe, expect, test } from "bun:test";
import { createServer, type Socket } from "node:net";
import { probeOnce, whenReady } from "../../../../src/pod/probe/ready.ts";
import { parseProbe, parseTarget } from "../../../../src/shared/sidecars/core/probe.ts";
import { listen } from "../../../harness/free-port.ts";

/** A server on loopback that treats each connection so. `accepted` counts them. */
async function serve(treat: (socket: Socket) => void) {
  let count = 0;
  const server = createServer((socket) => {
    count += 1;
    socket.on("error", () => undefined).resume();
    treat(socket);
  });
  const port = await listen(server);
  return {
    url: `tcp://127.0.0.1:${port}`,
    accepted: () => count,
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
