import { expect, test } from "bun:test";
import { connect } from "node:net";
import { join } from "node:path";
import type { Snapshot } from "../../src/pod/status/core/snapshot.ts";
import { ebb, startEbb, temporaryFolder, until } from "../harness/ebb.ts";
import { describeAgainstEnvoy } from "./against-envoy.ts";
import { startEnvoy } from "./envoy.ts";
import { startControlPlane, startUpstream } from "./servers.ts";

async function statusOf(admin: string): Promise<Snapshot> {
  const { code, stdout, stderr } = await ebb(["status", "--json", "--sidecar", "envoy", "--admin", admin]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return JSON.parse(stdout) as Snapshot;
}

describeAgainstEnvoy("ebb status beside a real Envoy", () => {
  test("shows its state, release, listeners and what is in flight, and asks it for nothing that is missing", async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const slow = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => released.then(() => new Response("late")) });
    await using envoy = await startEnvoy({ upstreamPort: slow.port as number });
    const late = fetch(envoy.url);
    const port = Number(new URL(envoy.url).port);
    const idle = connect(port, "127.0.0.1");
    try {
      const ownSocket = ({ sockets }: Snapshot) => sockets?.listening.find((socket) => socket.port === port);
      // an ebb of another test may look for an Envoy at each port of this machine, and be connected for a moment
      const seen = await until("the request is in flight", async () => {
        const snapshot = await statusOf(envoy.admin);
        const { inFlight, listeners } = snapshot.sidecars[0]?.envoy ?? {};
        const isTwo = listeners?.[0]?.connections === 2 && ownSocket(snapshot)?.connections.established === 2;
        return inFlight?.requests === 1 && isTwo && snapshot;
      });
      expect(seen.sidecars).toEqual([
        {
          ...{ name: "envoy", native: false, ready: true },
          probes: [{ target: `${envoy.admin}/ready`, ready: true, reason: null }],
          envoy: {
            ...{ admin: envoy.admin, problems: [], state: "LIVE", release: expect.stringMatching(/^1\.\d+\.\d+$/) },
            ...{ uptimeMs: expect.any(Number), epoch: 0, drainStrategy: "gradual", drainTimeMs: 600_000, drained: 0 },
            inFlight: { requests: 1, connections: 0, hasRequests: true, countedBy: "listeners" },
            listeners: [{ name: "outbound", address: `0.0.0.0:${port}`, direction: null, connections: 2 }],
          },
        },
      ]);
      expect(ownSocket(seen)).toMatchObject({ pid: envoy.pid, process: "envoy", connections: { established: 2 } });
    } finally {
      release();
      idle.destroy();
      await (await late).text();
      await slow.stop(true);
    }
  });

  test("on a unix socket", async () => {
    using folder = temporaryFolder();
    await using upstream = startUpstream();
    const path = join(folder.path, "admin.sock");
    await using envoy = await startEnvoy({ upstreamPort: upstream.port, admin: { path } });
    const seen = await statusOf(`unix:${path}`);
    expect(seen.sidecars).toMatchObject([
      { ready: true, envoy: { admin: `unix:${path}`, state: "LIVE", problems: [] } },
    ]);
    const own = seen.sockets?.listening.find(({ address }) => address === path);
    expect(own).toMatchObject({ protocol: "unix", pid: envoy.pid, process: "envoy" });
  });

  test.each([
    ["endpoints", "PRE_INITIALIZING", "its clusters still wait for"],
    ["routes", "INITIALIZING", "it still waits for listeners or routes"],
  ] as const)("that waits for %s says that it is %s, and what for", async (what, state, meaning) => {
    await using upstream = startUpstream();
    await using waitsFor = startControlPlane(what, upstream.port);
    await using envoy = await startEnvoy({ upstreamPort: upstream.port, waitsFor });
    await until("Envoy asks its control plane", () => waitsFor.waiting() > 0);
    const { sidecars, findings } = await statusOf(envoy.admin);
    expect(sidecars).toMatchObject([{ ready: false, envoy: { state } }]);
    expect(findings).toContainEqual({
      kind: "initializing",
      message: expect.stringMatching(new RegExp(`^envoy is ${state}: .*${meaning}`)),
    });
    waitsFor.release();
  });

  test("whose health was failed is DRAINING, and counts what it has closed", async () => {
    await using upstream = startUpstream();
    await using envoy = await startEnvoy({ upstreamPort: upstream.port });
    expect(await ebb(["request", "--admin", envoy.admin, "POST", "healthcheck/fail"])).toMatchObject({
      stdout: "OK\n",
    });
    await (await fetch(envoy.url)).text();
    const { sidecars, findings } = await statusOf(envoy.admin);
    expect(sidecars).toMatchObject([{ ready: false, envoy: { state: "DRAINING", drained: 1 } }]);
    expect(findings.map(({ kind }) => kind)).toContain("draining");
  });

  test("that allows only some paths shows what they tell", async () => {
    await using upstream = startUpstream();
    const allowPaths = ["/ready", "/listeners"];
    await using envoy = await startEnvoy({ upstreamPort: upstream.port, allowPaths });
    const [sidecar] = (await statusOf(envoy.admin)).sidecars;
    expect(sidecar).toMatchObject({
      ready: true,
      envoy: {
        state: null,
        inFlight: { requests: 0, connections: 0, countedBy: "sockets" },
        listeners: [{ name: "outbound" }],
      },
    });
    expect(sidecar?.envoy?.problems.map((problem) => problem.slice(0, problem.indexOf(" HTTP 403")))).toEqual([
      "/server_info:",
      "/stats:",
      "/config_dump:",
    ]);
  });

  test("--watch follows it to its end", async () => {
    await using upstream = startUpstream();
    await using envoy = await startEnvoy({ upstreamPort: upstream.port });
    await using started = startEbb(["status", "--watch", "--admin", envoy.admin]);
    await until("it is LIVE", () => started.stdout().includes("envoy: LIVE, ready\n"));
    expect((await ebb(["request", "--admin", envoy.admin, "POST", "quitquitquit"])).code).toBe(0);
    await until("it is gone", () => started.stdout().includes("envoy: NOT READY\n"));
    expect(started.stdout()).toContain("connection refused");
  });
});

describeAgainstEnvoy("ebb request to a real Envoy", () => {
  test("has its whole config_dump, in chunks, and its words for what is not allowed", async () => {
    await using upstream = startUpstream();
    await using envoy = await startEnvoy({ upstreamPort: upstream.port });
    const dump = await ebb(["request", "--admin", envoy.admin, "config_dump"]);
    expect(dump.code).toBe(0);
    expect(JSON.parse(dump.stdout)).toHaveProperty("configs");
    expect(await ebb(["request", "--admin", envoy.admin, "GET", "/quitquitquit"])).toMatchObject({
      code: 1,
      stdout: "Method GET not allowed, POST required.",
      stderr: `ebb: request: GET ${envoy.admin}/quitquitquit: HTTP 405 Method Not Allowed\n`,
    });
  });
});
