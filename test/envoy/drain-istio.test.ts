import { expect, test } from "bun:test";
import { drainLineOf, ebb, lineOf, startEbb } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";
import { describeAgainstEnvoy, says } from "./against-envoy.ts";
import { istioStats } from "./bootstrap.ts";
import { type Envoy, type EnvoyOptions, startEnvoy } from "./envoy.ts";
import { type Backend, holdIdle, holdRequest, holdTcp, startBackend } from "./traffic.ts";

/** An Envoy whose statistics and clusters are Istio's. */
async function startProxy(backend: Backend, options: Partial<EnvoyOptions> = {}): Promise<Envoy> {
  const port = await freePort();
  const listeners = [
    { name: "in", port, direction: "INBOUND" as const },
    { name: "raw", direction: "INBOUND" as const, tcpPort: backend.tcpPort },
  ];
  return await startEnvoy({ upstreamPort: backend.port, isLikeIstio: true, listeners, ...options });
}

function drain(envoy: Envoy, ...flags: readonly string[]): readonly string[] {
  return ["drain", "--sidecar", "istio", "--admin", envoy.admin, "--min-drain", "200ms", "--drain", "20s", ...flags];
}

const way = (envoy: Envoy, backend: Backend) => ({ port: envoy.portOf("in"), backend });

describeAgainstEnvoy("draining an Envoy that shows no more statistics than Istio's", () => {
  test.concurrent("with nothing in flight, and no traffic before, ends with the minimum", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const ended = await ebb(drain(envoy));
    expect(lineOf(ended, "counting the work in flight")).toMatchObject({ level: "info", countedBy: "clusters" });
    expect(drainLineOf(ended)).toMatchObject({ level: "info", outcome: "drained" });
    expect(drainLineOf(ended).tookMs).toBeLessThan(10_000);
    expect(ended.code).toBe(0);
  });

  test.concurrent("waits for the requests to the app, and not for idle connections", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const idle = await holdIdle(way(envoy, backend));
    const held = [
      await holdRequest(way(envoy, backend), "/hold/1"),
      await holdRequest(way(envoy, backend), "/stream/2"),
    ];
    await using started = startEbb(drain(envoy));
    await says(started, '"requests":2');
    expect(await Promise.all(held.map((each) => each.finish()))).toEqual(["200 /hold/1", "200 /stream/2"]);
    const ended = await started.ended;
    expect(lineOf(ended, "in flight")).toMatchObject({ requests: 2, connections: 0 });
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(ended.code).toBe(0);
    expect(idle.isClosed()).toBe(false);
  });

  test.concurrent("an idle connection alone does not hold it up", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const idle = await holdIdle(way(envoy, backend));
    const ended = await ebb(drain(envoy));
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(drainLineOf(ended).tookMs).toBeLessThan(10_000);
    expect(idle.isClosed()).toBe(false);
  });

  test.concurrent("has no warning in status", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const { stdout } = await ebb(["status", "--json", "--sidecar", "istio", "--admin", envoy.admin]);
    expect(JSON.parse(stdout).sidecars[0].envoy).toMatchObject({
      problems: [],
      drained: null,
      inFlight: { requests: 0, connections: 0, hasRequests: true, countedBy: "clusters" },
      listeners: [
        { name: "in", direction: "inbound", connections: null },
        { name: "raw", direction: "inbound", connections: null },
      ],
    });
  });

  test.concurrent.each([
    ["by default", []],
    ["with EXIT_ON_ZERO_ACTIVE_CONNECTIONS", [{ suffix: "downstream_cx_active" }]],
    ["where requests alone are shown", [{ suffix: "downstream_rq_active" }]],
    ["where both are shown", [{ suffix: "downstream_rq_active" }, { suffix: "downstream_cx_active" }]],
  ])("counts requests and raw TCP by clusters %s", async (_, more) => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend, { shows: [...istioStats, ...more] });
    const idle = await holdIdle(way(envoy, backend));
    const held = [
      await holdRequest(way(envoy, backend), "/hold/1"),
      await holdTcp({ port: envoy.portOf("raw"), backend }),
    ];
    await using started = startEbb(drain(envoy));
    await says(started, '"requests":2,"connections":0');
    await Promise.all(held.map((each) => each.finish()));
    const ended = await started.ended;
    expect(lineOf(ended, "counting the work in flight")).toMatchObject({ countedBy: "clusters" });
    expect(ended.code).toBe(0);
    expect(idle.isClosed()).toBe(false);
  });
});

describeAgainstEnvoy("draining an Envoy that shows neither statistics nor clusters", () => {
  const allowPaths = ["/healthcheck", "/drain_listeners", "/listeners"];

  test.concurrent("counts the connections on its inbound ports, and says that idle ones are among them", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend, {
      allowPaths: [...allowPaths, "/stats", "/config_dump"],
      isLikeIstio: false,
      isDynamic: true,
      shows: [{ prefix: "server" }],
    });
    const idle = await holdIdle(way(envoy, backend));
    await using started = startEbb(["drain", "--admin", envoy.admin, "--min-drain", "200ms", "--drain", "20s"]);
    await says(started, '"connections":1');
    idle.socket.destroy();
    const ended = await started.ended;
    const counting = lineOf(ended, "counting the work in flight");
    expect(counting).toMatchObject({ countedBy: "sockets", what: expect.stringContaining("including idle ones") });
    expect(ended.code).toBe(0);
  });

  test.concurrent.each([
    ["ports that its configuration does not have", "envoy", undefined],
    ["neither configuration nor statistics", "istio", allowPaths],
  ])("counts the same as status does, with %s", async (_, sidecar, allowed) => {
    await using backend = await startBackend();
    await using envoy = await startEnvoy({
      upstreamPort: backend.port,
      listeners: [
        { name: "in", direction: "INBOUND" },
        { name: "raw", direction: "INBOUND", tcpPort: backend.tcpPort },
      ],
      isDynamic: true,
      shows: [{ prefix: "server" }],
      ...(allowed === undefined ? {} : { allowPaths: allowed }),
    });
    const idle = await holdIdle(way(envoy, backend));
    const raw = await holdTcp({ port: envoy.portOf("raw"), backend });
    const flags = ["--sidecar", sidecar, "--admin", envoy.admin];
    await using started = startEbb(["drain", ...flags, "--min-drain", "200ms", "--drain", "20s"]);
    await says(started, '"countedBy":"sockets"');
    const { stdout } = await ebb(["status", "--json", ...flags]);
    idle.socket.destroy();
    await raw.finish();
    const ended = await started.ended;
    expect(ended.stderr).not.toContain("cannot count");
    expect(ended.code).toBe(0);
    const { countedBy, connections } = JSON.parse(stdout).sidecars[0].envoy.inFlight;
    expect(countedBy).toBe("sockets");
    // beside a proxy that runs as root, those of other servers of this machine may be counted too
    for (const each of [connections, lineOf(ended, "in flight").connections]) expect(each).toBeGreaterThanOrEqual(2);
  });
});
