import { expect, setDefaultTimeout, test } from "bun:test";
import { SIG } from "../../src/shared/core/signal.ts";
import { childPath } from "../harness/compiled.ts";
import { drainLineOf, type Started, startEbb, until } from "../harness/ebb.ts";
import { describeAgainstEnvoy, says } from "./against-envoy.ts";
import type { Envoy } from "./envoy.ts";
import { holdRequest, startBackend, startLoad, startProxy } from "./traffic.ts";

setDefaultTimeout(20_000);

/** The app of a container, which ends with 0 at TERM. Its policy keeps the sidecar, as in a Deployment. */
async function startApp(envoy: Envoy): Promise<Started> {
  const flags = ["--admin", envoy.admin, "--restart-policy", "Always", "--drain", "15s", "--min-drain", "200ms"];
  const started = startEbb(["run", ...flags, "--", childPath(), "record", `${SIG.TERM}`]);
  await until("the app is ready", () => started.stdout() === "ready\n");
  return started;
}

describeAgainstEnvoy("several app containers beside one real Envoy", () => {
  test.concurrent("two ebb run --drain at once: no app is stopped before the work in flight of both is done", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const way = { port: envoy.portOf("http"), backend };
    await using one = await startApp(envoy);
    await using two = await startApp(envoy);
    const load = startLoad(way.port, 3, 2);
    const held = await holdRequest(way, "/hold/1");
    await until("traffic", () => load.answered.length > 50);
    one.kill("SIGTERM");
    two.kill("SIGTERM");
    await says(one, "made Envoy's health checks fail");
    await says(two, "made Envoy's health checks fail");
    load.deregister();
    await load.done;
    await Promise.all([one, two].map((each) => says(each, '"requests":1')));
    expect([one.stdout(), two.stdout()]).toEqual(["ready\n", "ready\n"]);
    expect(await held.finish()).toBe("200 /hold/1");
    for (const ended of await Promise.all([one.ended, two.ended])) {
      expect(ended.stdout).toBe("ready\n15\n");
      expect(drainLineOf(ended)).toMatchObject({ level: "info", outcome: "drained" });
      expect(ended.code).toBe(0);
    }
    expect(load.failed).toEqual([]);
    expect(load.answered).toHaveLength(load.sent.length);
    expect(envoy.isRunning()).toBe(true);
  });

  test.concurrent("two ebb drain at once, one begun later: neither ends before the work in flight is done", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const held = await holdRequest({ port: envoy.portOf("http"), backend }, "/hold/1");
    const drain = (minDrain: string) =>
      startEbb(["drain", "--admin", envoy.admin, "--drain", "15s", "--min-drain", minDrain]);
    await using one = drain("100ms");
    await says(one, '"requests":1');
    await using two = drain("300ms");
    await says(two, '"requests":1');
    expect([one.stderr(), two.stderr()].filter((said) => said.includes("drain ended"))).toEqual([]);
    expect(await held.finish()).toBe("200 /hold/1");
    for (const ended of await Promise.all([one.ended, two.ended])) {
      expect(drainLineOf(ended)).toMatchObject({ level: "info", outcome: "drained" });
      expect(ended.code).toBe(0);
    }
    expect(envoy.isRunning()).toBe(true);
  });
});
