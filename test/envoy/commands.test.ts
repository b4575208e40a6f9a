import { expect, test } from "bun:test";
import { childPath } from "../harness/compiled.ts";
import { ebb, startEbb, until } from "../harness/ebb.ts";
import { never } from "../harness/time.ts";
import { startRawServer } from "../stand-in/raw-server.ts";
import { describeAgainstEnvoy, quitOf, untilNotReady } from "./against-envoy.ts";
import { startEnvoy } from "./envoy.ts";
import { startControlPlane, startUpstream } from "./servers.ts";

describeAgainstEnvoy("ebb wait beside a real Envoy", () => {
  test("becomes its command, the same process, once Envoy is LIVE, and leaves Envoy alone", async () => {
    await using upstream = startUpstream();
    await using waitsFor = startControlPlane("endpoints", upstream.port);
    await using envoy = await startEnvoy({ upstreamPort: upstream.port, waitsFor });
    await using started = startEbb(["wait", "--admin", envoy.admin, "--", childPath(), "self"]);
    await untilNotReady(started, "PRE_INITIALIZING");
    expect(started.stdout()).toBe("");
    waitsFor.release();
    const ended = await started.ended;
    expect(ended.stdout).toStartWith(`pid ${started.pid}\n`);
    expect(ended.code).toBe(0);
    expect(envoy.isRunning()).toBe(true);
  });

  test("waits for a database behind an Envoy that accepts connections before it is up", async () => {
    await using database = await startRawServer(() => undefined);
    await database.close();
    const listeners = [{ name: "http" }, { name: "raw", tcpPort: database.port }];
    await using envoy = await startEnvoy({ upstreamPort: database.port, listeners });
    await using started = startEbb(["wait", "--sidecar", "none", `tcp://127.0.0.1:${envoy.portOf("raw")}`]);
    await until("it is closed", () => started.stderr().includes('"reason":"closed within 100ms'));
    await never("it is ready", () => started.stderr().includes("ebb: ready"), 150);
    await database.open();
    expect((await started.ended).code).toBe(0);
  });
});

describeAgainstEnvoy("ebb quit beside a real Envoy", () => {
  test("ends it, LIVE or not, and says so when it is gone", async () => {
    await using upstream = startUpstream();
    await using waitsFor = startControlPlane("endpoints", upstream.port);
    await using live = await startEnvoy({ upstreamPort: upstream.port });
    await using late = await startEnvoy({ upstreamPort: upstream.port, waitsFor });
    for (const { admin, ended: gone } of [live, late]) {
      const ended = await ebb(["quit", "--admin", admin]);
      expect(ended.code).toBe(0);
      expect(quitOf(ended)).toMatchObject({ status: 200, outcome: "exited" });
      expect(await gone).toBe(0);
    }
  });
});
