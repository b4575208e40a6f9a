import { expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:http2";
import { drainLineOf, type Ended, ebb, lineOf, startEbb } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";
import { describeAgainstEnvoy, says } from "./against-envoy.ts";
import type { ListenerPlan } from "./bootstrap.ts";
import { startEnvoy } from "./envoy.ts";
import { type Backend, holdIdle, holdTcp, open, startBackend } from "./traffic.ts";

setDefaultTimeout(60_000);

/** Opens an HTTP/2 connection without a request. Resolves once Envoy has sent its settings. */
async function holdHttp2Idle(port: number): Promise<Disposable> {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on("error", () => undefined);
  await new Promise((settled) => session.once("remoteSettings", settled));
  return { [Symbol.dispose]: () => session.destroy() };
}

function drain(admin: string, drainMs: number): Promise<Ended> {
  return ebb(["drain", "--admin", admin, "--min-drain", "200ms", "--drain", `${drainMs}ms`]);
}

describeAgainstEnvoy("draining a real Envoy with connections to listeners that were never asked", () => {
  const http = (name: string, statPrefix = name): ListenerPlan => ({ name, statPrefix });

  async function startWith({ port }: Backend, listeners: readonly ListenerPlan[], hides?: RegExp) {
    const shows = hides === undefined ? {} : { hides: [{ safe_regex: { regex: hides.source } }] };
    return await startEnvoy({ upstreamPort: port, listeners, ...shows });
  }

  test.concurrent.each<[string, readonly string[]]>([
    ["each with a name of its own", ["web", "grpc", "other"]],
    ["all with one stat_prefix", ["ingress_http", "ingress_http", "ingress_http"]],
    ["Istio's", ["inbound_0.0.0.0_8080;", "inbound_0.0.0.0_9090;", "outbound_0.0.0.0_80;"]],
  ])("does not wait for them, and status does not count them: %s", async (_, prefixes) => {
    await using backend = await startBackend();
    const listeners = prefixes.map((prefix, at) => http(`l${at}`, prefix));
    await using envoy = await startWith(backend, [...listeners, { name: "raw", tcpPort: backend.tcpPort }]);
    const asked = await holdIdle({ port: envoy.portOf("l0"), backend });
    using _http2 = await holdHttp2Idle(envoy.portOf("l1"));
    const bare = await open(envoy.portOf("l2"));
    const { stdout } = await ebb(["status", "--json", "--sidecar", "envoy", "--admin", envoy.admin]);
    expect(JSON.parse(stdout).sidecars[0].envoy.inFlight).toEqual({
      ...{ requests: 0, connections: 0, hasRequests: true, countedBy: "listeners" },
    });
    const ended = await drain(envoy.admin, 20_000);
    expect(lineOf(ended, "counting the work in flight")).toMatchObject({ countedBy: "listeners" });
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    for (const { socket } of [asked, bare]) socket.destroy();
  });

  test.concurrent("counts the connections of one whose requests are hidden, and not those of the others", async () => {
    await using backend = await startBackend();
    await using envoy = await startWith(
      backend,
      [http("web"), http("grpc"), http("hidden")],
      /http\.hidden\..*rq_active/,
    );
    const asked = await holdIdle({ port: envoy.portOf("web"), backend });
    const never = await open(envoy.portOf("grpc"));
    const hidden = await open(envoy.portOf("hidden"));
    const ended = await drain(envoy.admin, 1500);
    expect(lineOf(ended, "counting the work in flight")).toMatchObject({ countedBy: "connections" });
    expect(drainLineOf(ended)).toMatchObject({ outcome: "out of time with 1 left (1 connection)" });
    for (const { socket } of [asked, never, hidden]) socket.destroy();
  });

  test.concurrent.each([
    ["", undefined],
    [", where nothing tells which listener is whose", /listener\..*rq_completed/],
  ])("waits for a TCP connection of a client, whatever the app holds idle%s", async (_, hides) => {
    await using backend = await startBackend();
    const calls = { ...http("calls"), host: "127.0.0.1", port: await freePort() };
    await using envoy = await startWith(backend, [{ name: "raw", tcpPort: backend.tcpPort }, calls], hides);
    const call =
      hides === undefined ? await open(envoy.portOf("calls")) : await holdIdle({ port: calls.port, backend });
    const session = await holdTcp({ port: envoy.portOf("raw"), backend });
    await using started = startEbb(["drain", "--admin", envoy.admin, "--min-drain", "200ms", "--drain", "20s"]);
    await says(started, '"requests":0,"connections":1');
    expect(await session.finish()).toBe("hello bye");
    expect(drainLineOf(await started.ended)).toMatchObject({ outcome: "drained" });
    call.socket.destroy();
  });
});
