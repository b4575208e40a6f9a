import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { drainLineOf, ebb, lineOf, startEbb, temporaryFolder, timeOf, until } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";
import { describeAgainstEnvoy, quitOf, says } from "./against-envoy.ts";
import { type Envoy, startEnvoy } from "./envoy.ts";
import {
  type Backend,
  holdHttp2,
  holdIdle,
  holdRequest,
  holdTcp,
  holdUnread,
  holdWebSocket,
  type InFlight,
  send,
  startBackend,
  startLoad,
  startProxy,
  type Way,
} from "./traffic.ts";

setDefaultTimeout(60_000);

function drain(envoy: Pick<Envoy, "admin">, ...flags: readonly string[]): readonly string[] {
  return ["drain", "--admin", envoy.admin, "--min-drain", "200ms", ...flags];
}

describeAgainstEnvoy("draining a real Envoy", () => {
  const slow = (way: Way) => holdRequest(way, "/hold/1");
  const streamed = (way: Way) => holdRequest(way, "/stream/1");
  const http2 = (way: Way) => holdHttp2(way, "/hold/2");
  const http2Stream = (way: Way) => holdHttp2(way, "/stream/2");
  const webSocket = (way: Way) => holdWebSocket(way, "/socket");

  test.concurrent.each<[string, (way: Way) => Promise<InFlight>, string, string, object]>([
    ["a slow answer", slow, "http", "200 /hold/1", { requests: 1, connections: 0 }],
    ["an answer under way", streamed, "http", "200 /stream/1", { requests: 1, connections: 0 }],
    ["a slow answer by HTTP/2", http2, "http", "200 /hold/2", { requests: 1, connections: 0 }],
    ["an HTTP/2 stream under way", http2Stream, "http", "200 /stream/2", { requests: 1, connections: 0 }],
    ["a WebSocket", webSocket, "http", "hello bye", { requests: 1, connections: 0 }],
    ["a TCP connection", holdTcp, "raw", "hello bye", { requests: 0, connections: 1 }],
  ])("waits for %s, and ends within a poll of its end", async (_, hold, listener, received, inFlight) => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const idle = await holdIdle({ port: envoy.portOf("http"), backend });
    const held = await hold({ port: envoy.portOf(listener), backend });
    await using started = startEbb(drain(envoy, "--drain", "20s", "--then-quit"));
    await says(started, "in flight");
    expect(idle.isClosed()).toBe(false);
    expect(await held.finish()).toBe(received);
    const endedAt = Date.now();
    const ended = await started.ended;
    expect(lineOf(ended, "in flight")).toMatchObject(inFlight);
    const drained = drainLineOf(ended);
    expect(drained).toMatchObject({ level: "info", sidecar: "envoy", outcome: "drained" });
    expect(timeOf(drained) - endedAt).toBeLessThan(10_000);
    expect(quitOf(ended)).toMatchObject({ outcome: "exited" });
    expect(ended.code).toBe(0);
    expect(await envoy.ended).toBe(0);
  });

  test.concurrent("waits until a client has taken an answer that Envoy has to its end", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const held = await holdUnread({ port: envoy.portOf("http") }, envoy);
    await using started = startEbb(drain(envoy, "--drain", "20s", "--then-quit"));
    await says(started, '"requests":0,"connections":1');
    expect(await held.finish()).toBe("200 ");
    const ended = await started.ended;
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(ended.code).toBe(0);
  });

  test.concurrent("waits for a client that never takes its answer until it is out of time", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const held = await holdUnread({ port: envoy.portOf("http") }, envoy);
    const ended = await ebb(drain(envoy, "--drain", "1500ms"));
    expect(drainLineOf(ended)).toMatchObject({ outcome: "out of time with 1 left (1 connection)" });
    expect(ended.code).toBe(69);
    held.drop();
  });

  test.concurrent("loses no request: those in flight are answered, and each client is told to close its connection", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const way = { port: envoy.portOf("http"), backend };
    const load = startLoad(way.port, 6, 4);
    const held = await Promise.all([1, 2, 3].map((id) => holdRequest(way, `/hold/${id}`)));
    await until("traffic", () => load.answered.length > 100);
    await using started = startEbb(drain(envoy, "--drain", "20s", "--then-quit"));
    await says(started, "made Envoy's health checks fail");
    const { length: atFailure } = load.answered;
    await until("connections are still accepted", () => load.answered.length > atFailure + 50);
    load.deregister();
    await load.done;
    await says(started, '"requests":3');
    const late = await holdIdle(way);
    expect(late.received()).toStartWith("HTTP/1.1 200 ");
    expect(late.received()).toContain("connection: close");
    const answers = await Promise.all(held.map((each) => each.finish()));
    expect(answers).toEqual(["200 /hold/1", "200 /hold/2", "200 /hold/3"]);
    const ended = await started.ended;
    expect(load.failed).toEqual([]);
    expect(load.answered).toHaveLength(load.sent.length);
    expect(backend.requests.filter((path) => /^\/\d+$/.test(path))).toHaveLength(load.sent.length);
    expect(load.closes()).toBeGreaterThanOrEqual(10);
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(ended.code).toBe(0);
    expect(await envoy.ended).toBe(0);
  });

  test.concurrent("is over at once when nothing but idle connections are there, HTTP/1.1 and HTTP/2, which stay open", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const way = { port: envoy.portOf("http"), backend };
    const [idle, http2] = [await holdIdle(way), await holdHttp2(way, "/idle")];
    const ended = await ebb(drain(envoy, "--drain", "20s"));
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(ended.code).toBe(0);
    expect(idle.isClosed()).toBe(false);
    expect(await send(idle, "/after")).toEqual({ status: 200, body: "/after", closes: true });
    expect(envoy.isRunning()).toBe(true);
    const ready = await fetch(`${envoy.admin}/ready`);
    expect([ready.status, await ready.text()]).toEqual([503, "DRAINING\n"]);
    http2.drop();
  });

  test.concurrent("out of time says how many are left, with 69, and quits all the same", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const held = [
      await holdRequest({ port: envoy.portOf("http"), backend }, "/hold/1"),
      await holdHttp2({ port: envoy.portOf("http"), backend }, "/hold/2"),
      await holdTcp({ port: envoy.portOf("raw"), backend }),
    ];
    const ended = await ebb(drain(envoy, "--drain", "1500ms", "--then-quit"));
    expect(drainLineOf(ended)).toMatchObject({
      level: "warn",
      outcome: "out of time with 3 left (2 requests, 1 connection)",
    });
    expect(quitOf(ended)).toMatchObject({ outcome: "exited" });
    expect(ended.code).toBe(69);
    expect(await envoy.ended).toBe(0);
    for (const each of held) each.drop();
  });

  test.concurrent("as long as its minimum, it leaves what is in flight to the app, and ends with 0", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const held = await holdRequest({ port: envoy.portOf("http"), backend }, "/hold/1");
    const ended = await ebb(["drain", "--admin", envoy.admin, "--drain", "1s", "--min-drain", "1s"]);
    expect(drainLineOf(ended)).toMatchObject({ level: "info", outcome: "1 left (1 request): the app ends them" });
    expect(ended.code).toBe(0);
    held.drop();
  });

  test.concurrent("says what is left at the end, not what was there before", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const raw = { port: envoy.portOf("raw"), backend };
    const [first, second] = [await holdTcp(raw), await holdTcp(raw)];
    await using started = startEbb(drain(envoy, "--drain", "2500ms"));
    await says(started, '"connections":2');
    first.drop();
    const ended = await started.ended;
    expect(drainLineOf(ended)).toMatchObject({ outcome: "out of time with 1 left (1 connection)" });
    expect(ended.code).toBe(69);
    second.drop();
  });

  test.concurrent("again, or twice at the same time, is the same", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const held = await holdTcp({ port: envoy.portOf("raw"), backend });
    await using one = startEbb(drain(envoy, "--drain", "20s"));
    await using other = startEbb(drain(envoy, "--drain", "20s"));
    await Promise.all([says(one, "in flight"), says(other, "in flight")]);
    await held.finish();
    const again = await ebb(drain(envoy, "--drain", "20s"));
    for (const ended of [await one.ended, await other.ended, again]) {
      expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
      expect(ended.code).toBe(0);
    }
  });

  test.concurrent("while the listeners are being closed by somebody else is the same", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const held = await holdRequest({ port: envoy.portOf("http"), backend }, "/hold/1");
    await fetch(`${envoy.admin}/drain_listeners`, { method: "POST" });
    await using started = startEbb(drain(envoy, "--drain", "20s"));
    await says(started, '"requests":1');
    expect(await held.finish()).toBe("200 /hold/1");
    const ended = await started.ended;
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(ended.code).toBe(0);
  });

  test.concurrent("where it is gone already fails, and says that the connection is refused", async () => {
    // a port that the system gives to nobody: that of an Envoy that has ended may be another test's by now
    const ended = await ebb(drain({ admin: "http://127.0.0.1:9" }, "--drain", "20s", "--then-quit"));
    expect(drainLineOf(ended)).toMatchObject({ level: "warn", outcome: expect.stringContaining("connection refused") });
    expect(ended.code).toBe(69);
  });

  test.concurrent.each(["made Envoy's health checks fail", "in flight"])(
    "is done when it is killed after: %s",
    async (after) => {
      await using backend = await startBackend();
      await using envoy = await startProxy(backend);
      const held = await holdTcp({ port: envoy.portOf("raw"), backend });
      await using started = startEbb(drain(envoy, "--drain", "20s", "--then-quit"));
      await says(started, after);
      envoy.kill("SIGKILL");
      const ended = await started.ended;
      expect(drainLineOf(ended)).toMatchObject({
        level: "warn",
        outcome: expect.stringContaining("Envoy exited during the drain, "),
      });
      expect(quitOf(ended)).toMatchObject({ outcome: "had exited already" });
      expect(ended.code).toBe(0);
      held.drop();
    },
  );

  test.concurrent("on a unix socket is the same", async () => {
    using folder = temporaryFolder();
    await using backend = await startBackend();
    const admin = { path: join(folder.path, "admin.sock") };
    await using envoy = await startEnvoy({ upstreamPort: backend.port, admin, listeners: [{ name: "http" }] });
    const held = await holdRequest({ port: envoy.portOf("http"), backend }, "/hold/1");
    await using started = startEbb(drain(envoy, "--drain", "20s", "--then-quit"));
    await says(started, '"requests":1');
    expect(await held.finish()).toBe("200 /hold/1");
    const ended = await started.ended;
    expect(ended.code).toBe(0);
    expect(await envoy.ended).toBe(0);
  });
});

describeAgainstEnvoy("draining an Envoy beside an app whose configuration names no direction", () => {
  async function startSidecar({ port, tcpPort }: Backend, direction?: "INBOUND", isDynamic = false): Promise<Envoy> {
    return await startEnvoy({
      upstreamPort: port,
      listeners: [
        { name: "in" },
        { name: "calls", host: "127.0.0.1", port: await freePort() },
        { name: "database", host: "127.0.0.1", tcpPort, ...(direction === undefined ? {} : { direction }) },
      ],
      isDynamic,
    });
  }

  test.concurrent.each([false, true])(
    "neither waits for what the app calls through loopback, nor counts it in status; from a control plane: %p",
    async (isDynamic) => {
      await using backend = await startBackend();
      await using envoy = await startSidecar(backend, undefined, isDynamic);
      const way = (listener: string) => ({ port: envoy.portOf(listener), backend });
      const calls = [await holdTcp(way("database")), await holdRequest(way("calls"), "/hold/out")];
      const { stdout } = await ebb(["status", "--json", "--sidecar", "envoy", "--admin", envoy.admin]);
      const ended = await ebb(drain(envoy, "--drain", "20s"));
      expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
      expect(drainLineOf(ended).tookMs).toBeLessThan(10_000);
      expect(lineOf(ended, "draining the listeners")).not.toMatchObject({
        request: expect.stringContaining("inboundonly"),
      });
      expect(JSON.parse(stdout).sidecars[0].envoy).toMatchObject({
        inFlight: { requests: 0, connections: 0, countedBy: "listeners" },
        listeners: [{ direction: null }, { direction: "outbound" }, { direction: "outbound" }],
      });
      for (const each of calls) each.drop();
    },
  );

  test.concurrent("does not wait for what the app calls where the listeners share a stat_prefix and no client is there", async () => {
    await using backend = await startBackend();
    const shared = { statPrefix: "http" };
    const listeners = [
      { name: "in", ...shared },
      { name: "calls", host: "127.0.0.1", port: await freePort(), ...shared },
    ];
    await using envoy = await startEnvoy({ upstreamPort: backend.port, listeners });
    const client = await holdIdle({ port: envoy.portOf("in"), backend });
    client.socket.destroy();
    const call = await holdRequest({ port: envoy.portOf("calls"), backend }, "/hold/out");
    const ended = await ebb(drain(envoy, "--drain", "5s"));
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    call.drop();
  });

  test.concurrent("waits for what clients send, whatever the app calls", async () => {
    await using backend = await startBackend();
    await using envoy = await startSidecar(backend);
    const call = await holdTcp({ port: envoy.portOf("database"), backend });
    const held = await holdRequest({ port: envoy.portOf("in"), backend }, "/hold/in");
    await using started = startEbb(drain(envoy, "--drain", "20s"));
    await says(started, '"requests":1,"connections":0');
    expect(await held.finish()).toBe("200 /hold/in");
    expect(drainLineOf(await started.ended)).toMatchObject({ outcome: "drained" });
    call.drop();
  });

  test.concurrent("waits for a listener on loopback that says INBOUND", async () => {
    await using backend = await startBackend();
    await using envoy = await startSidecar(backend, "INBOUND");
    const held = await holdTcp({ port: envoy.portOf("database"), backend });
    await using started = startEbb(drain(envoy, "--drain", "20s"));
    await says(started, '"requests":0,"connections":1');
    await held.finish();
    expect(drainLineOf(await started.ended)).toMatchObject({ outcome: "drained" });
  });
});

describeAgainstEnvoy("draining an Envoy beside an app, as Istio's is,", () => {
  const usual = { "sidecar.istio.io/status": { initContainers: ["istio-init"], containers: ["istio-proxy"] } };

  /** Istio's flags, so that its `connection: close` comes at once; ports, by which its statistics name the listeners. */
  async function startSidecar({ port, tcpPort }: Backend, unbound = 0): Promise<Envoy> {
    return await startEnvoy({
      upstreamPort: port,
      listeners: [
        { name: "inbound", direction: "INBOUND", port: await freePort() },
        { name: "outbound", direction: "OUTBOUND", port: await freePort() },
        { name: "outbound-raw", direction: "OUTBOUND", port: await freePort(), tcpPort },
      ],
      flags: ["--drain-strategy", "immediate"],
      isDynamic: true,
      unbound,
    });
  }

  function annotationsIn(folder: string, annotations: Readonly<Record<string, object>>): string {
    const path = join(folder, "annotations");
    const lines = Object.entries(annotations).map(([key, value]) => `${key}=${JSON.stringify(JSON.stringify(value))}`);
    writeFileSync(path, lines.join("\n"));
    return path;
  }

  test.concurrent("one of 500 listeners from a control plane is drained as one of three is", async () => {
    await using backend = await startBackend();
    await using envoy = await startSidecar(backend, 500);
    const call = await holdTcp({ port: envoy.portOf("outbound-raw"), backend });
    // no sidecar's defaults say that inbound alone is drained
    const ended = await ebb(drain(envoy, "--drain", "40s", "--sidecar", "envoy", "--min-drain", "2s"));
    expect(lineOf(ended, "draining the listeners")).toMatchObject({ request: expect.stringContaining("inboundonly") });
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(ended.code).toBe(0);
    call.drop();
  });

  test.concurrent("another one fails its health checks, and its outbound is not waited for", async () => {
    using folder = temporaryFolder();
    await using backend = await startBackend();
    await using envoy = await startSidecar(backend);
    const call = await holdTcp({ port: envoy.portOf("outbound-raw"), backend });
    const annotations = ["--pod-annotations", annotationsIn(folder.path, usual)];
    const ended = await ebb(drain(envoy, "--drain", "20s", "--sidecar", "istio", ...annotations));
    expect(ended.stderr).toContain("/healthcheck/fail");
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(ended.code).toBe(0);
    call.drop();
  });
});
