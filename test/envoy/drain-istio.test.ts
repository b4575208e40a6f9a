import { expect, test } from "bun:test";
import { lineOf, startEbb } from "../harness.ts";
import { describeAgainstEnvoy, says } from "./against-envoy.ts";
import { startEnvoy } from "./envoy.ts";
import { holdIdle, holdRequest, startBackend } from "./traffic.ts";

describeAgainstEnvoy("draining an Envoy that shows no more statistics than Istio's", () => {
  test("waits for the requests to the app, and not for idle connections", async () => {
    await using backend = await startBackend();
    await using envoy = await startEnvoy({ upstreamPort: backend.port, isLikeIstio: true });
    const way = { port: envoy.portOf("outbound"), backend };
    const idle = await holdIdle(way);
    const held = [await holdRequest(way, "/hold/1"), await holdRequest(way, "/stream/2")];
    const flags = ["--sidecar", "istio", "--admin", envoy.admin, "--min-drain", "200ms", "--drain", "20s"];
    await using started = startEbb(["drain", ...flags]);
    await says(started, "in flight");
    expect(await Promise.all(held.map((each) => each.finish()))).toEqual(["200 /hold/1", "200 /stream/2"]);
    const ended = await started.ended;
    expect(lineOf(ended, "in flight")).toMatchObject({ requests: 2, connections: 0 });
    expect(lineOf(ended, "drain")).toMatchObject({ outcome: "drained" });
    expect(ended.code).toBe(0);
    expect(idle.isClosed()).toBe(false);
  });

  test("counts connections, and says so, where it shows no clusters either", async () => {
    await using backend = await startBackend();
    const allowPaths = ["/stats", "/healthcheck", "/drain_listeners", "/listeners"];
    await using envoy = await startEnvoy({ upstreamPort: backend.port, isLikeIstio: true, allowPaths });
    const idle = await holdIdle({ port: envoy.portOf("outbound"), backend });
    const flags = ["--sidecar", "istio", "--admin", envoy.admin, "--min-drain", "200ms", "--drain", "20s"];
    await using started = startEbb(["drain", ...flags]);
    await says(started, "shows no requests: connections are counted, idle ones too");
    idle.socket.destroy();
    const ended = await started.ended;
    expect(lineOf(ended, "in flight")).toMatchObject({ requests: 0, connections: 1 });
    expect(ended.code).toBe(0);
  });
});
