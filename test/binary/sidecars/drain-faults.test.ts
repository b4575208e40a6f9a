import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { childPath } from "../../harness/compiled.ts";
import { drainLineOf, type Ended, ebb, lineOf, quitLineOf, startEbb, until } from "../../harness/ebb.ts";
import { type Answer, type Fault, faults, type StandInEnvoy, startEnvoy } from "../../stand-in/envoy.ts";
import { busy } from "../../stand-in/envoy-answers.ts";
import { type RawServer, startRawServer } from "../../stand-in/raw-server.ts";

/** How much longer than its limit it may take, on a machine with other work. */
const SLACK_MS = 10_000;

setDefaultTimeout(60_000);

/** What it warned of, but for the outcome. */
function warnings({ log }: Ended): readonly string[] {
  const said = log.filter(({ level, msg }) => level === "warn" && msg !== "ebb: could not drain the sidecar");
  return said.map(({ msg }) => msg.replace("ebb: ", ""));
}

/** How it ended, and that it took no longer than it may. */
async function drain(envoy: StandInEnvoy, drainMs: number, ...flags: readonly string[]): Promise<Ended> {
  const start = performance.now();
  const limits = ["--drain", `${drainMs}ms`, "--min-drain", "100ms"];
  const ended = await ebb(["drain", "--admin", envoy.url, ...limits, ...flags]);
  expect(performance.now() - start).toBeLessThan(drainMs + SLACK_MS);
  return ended;
}

/** A configuration whose one listener, an inbound one, is on that port. */
function inboundAt({ port }: RawServer): Answer {
  const address = { socket_address: { address: "127.0.0.1", port_value: port } };
  return { body: JSON.stringify({ configs: [{ listener: { address, traffic_direction: "INBOUND" } }] }) };
}

const others = faults.filter((fault) => fault !== "dying");
const gone = /^Envoy (had exited before|exited during) the drain/;

describe("a drain ends in time, and says what came of it, where", () => {
  describe.each<[string, string]>([
    ["healthcheck/fail", "cannot make Envoy's health checks fail"],
    ["drain_listeners", "cannot drain the listeners"],
  ])("%s is", (endpoint, warning) => {
    test.concurrent.each(faults)("%s", async (fault) => {
      await using envoy = await startEnvoy({ [`/${endpoint}`]: fault });
      const ended = await drain(envoy, 15_000);
      expect(drainLineOf(ended).outcome).toMatch(fault === "dying" ? gone : /^drained$/);
      expect(warnings(ended)).toEqual([fault === "dying" ? "drain ended" : warning]);
      if (fault === "hanging") expect(ended.stderr).toContain("no answer in time: it may still do it");
      expect(ended.code).toBe(0);
    });
  });

  describe("stats is", () => {
    test.concurrent("dying: it is gone", async () => {
      await using envoy = await startEnvoy({ "/stats": "dying" });
      const ended = await drain(envoy, 15_000);
      expect(drainLineOf(ended)).toMatchObject({ level: "warn", outcome: expect.stringMatching(gone) });
      expect(ended.code).toBe(0);
    });

    test.concurrent("dying, before its sockets: they do not tell that it has drained", async () => {
      await using inbound = await startRawServer(() => undefined);
      await using envoy = await startEnvoy({ "/stats": "dying", "/config_dump": inboundAt(inbound) });
      const ended = await drain(envoy, 15_000);
      expect(drainLineOf(ended)).toMatchObject({ level: "warn", outcome: expect.stringMatching(gone) });
      expect(warnings(ended)).toEqual(["drain ended"]);
      expect(ended.code).toBe(0);
    });

    test.concurrent("resetting each time: its sockets are counted", async () => {
      await using inbound = await startRawServer(() => undefined);
      await using envoy = await startEnvoy({ "/stats": "resetting", "/config_dump": inboundAt(inbound) });
      const ended = await drain(envoy, 15_000);
      expect(drainLineOf(ended)).toMatchObject({ level: "info", outcome: "drained" });
      expect(lineOf(ended, "counting the work in flight")).toMatchObject({ countedBy: "sockets" });
      expect(ended.code).toBe(0);
    });

    test.concurrent.each(others)("%s: the time is sat out", async (fault) => {
      await using envoy = await startEnvoy({ "/stats": fault });
      // an endless answer is read for 2 s, with all of a processor: on a busy machine the count takes several times that
      const ended = await drain(envoy, fault === "endless" ? 12_000 : 5000);
      expect(drainLineOf(ended)).toMatchObject({
        level: "warn",
        outcome: "out of time; what was left could not be counted, and may have been cut off",
      });
      expect(warnings(ended)[0]).toBe("cannot count the work in flight");
      expect(ended.code).toBe(69);
    });

    test.concurrent("something else: the time is sat out", async () => {
      await using envoy = await startEnvoy();
      envoy.stats = "RBAC: access denied\n";
      const ended = await drain(envoy, 1500);
      expect(drainLineOf(ended)).toMatchObject({
        outcome: "out of time; what was left could not be counted, and may have been cut off",
      });
      expect(ended.stderr).toContain('no statistics: \\"RBAC: access denied\\"');
      expect(ended.code).toBe(69);
    });

    test.concurrent("500, five times: it is not asked again", async () => {
      await using envoy = await startEnvoy({ "/stats": "500" });
      const ended = await drain(envoy, 15_000);
      expect(envoy.requests.filter((request) => request === "GET /stats")).toHaveLength(5);
      const fixedTime = "cannot count the work in flight: draining for the full time";
      expect(warnings(ended)).toEqual(["cannot count the work in flight", fixedTime]);
      expect(ended.code).toBe(69);
    });
  });

  test.concurrent("config_dump is dying: it is gone", async () => {
    await using envoy = await startEnvoy({ "/config_dump": "dying" });
    const ended = await drain(envoy, 15_000, "--sidecar", "istio");
    expect(drainLineOf(ended).outcome).toMatch(/^Envoy (had )?exited |^connection refused/); // its health checks are failed then too
  });

  test.concurrent.each(others)("config_dump is %s: outbound is waited for too", async (fault) => {
    await using envoy = await startEnvoy({ "/config_dump": fault });
    envoy.stats = busy(1);
    const ended = await drain(envoy, fault === "endless" ? 5000 : 2000, "--sidecar", "istio");
    expect(drainLineOf(ended)).toMatchObject({ outcome: "out of time with 1 left (1 connection)" });
    expect(warnings(ended)).toEqual([]);
    expect(ended.code).toBe(69);
  });

  test.concurrent("config_dump is longer than 4 MiB: outbound is waited for too", async () => {
    const listener = { address: { pipe: { path: "x".repeat(5 * 1024 * 1024) } }, traffic_direction: "INBOUND" };
    await using envoy = await startEnvoy({ "/config_dump": { body: JSON.stringify({ configs: [{ listener }] }) } });
    envoy.stats = busy(1);
    const ended = await drain(envoy, 2000);
    expect(lineOf(ended, "draining the listeners")).toMatchObject({
      request: expect.not.stringContaining("inboundonly"),
    });
    expect(drainLineOf(ended)).toMatchObject({ outcome: "out of time with 1 left (1 connection)" });
    expect(ended.code).toBe(69);
  });

  test.concurrent("config_dump is as it should be: outbound is not waited for", async () => {
    await using envoy = await startEnvoy();
    envoy.stats = busy(1);
    const ended = await drain(envoy, 15_000, "--sidecar", "istio");
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(ended.code).toBe(0);
  });

  describe("the quit after it is", () => {
    test.concurrent("dying: it is gone", async () => {
      await using envoy = await startEnvoy({ "/quitquitquit": "dying" });
      const ended = await drain(envoy, 15_000, "--then-quit");
      expect(quitLineOf(ended)).toMatchObject({ level: "info", outcome: "exited" });
      expect(ended.code).toBe(0);
    });

    test.concurrent.each<[Fault, string]>([
      ["hanging", "no answer in time"],
      ["500", "HTTP 500"],
      ["403", "admin.allow_paths"],
      ["garbage", "not HTTP"],
      ["resetting", "closed before the answer was complete"],
      ["endless", "longer than 64 KiB"],
    ])("%s: %s", async (fault, outcome) => {
      await using envoy = await startEnvoy({ "/quitquitquit": fault });
      const ended = await drain(envoy, 4000, "--then-quit", "--quit-timeout", "60s");
      expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
      expect(quitLineOf(ended)).toMatchObject({ level: "error", outcome: expect.stringContaining(outcome) });
      expect(ended.code).toBe(69);
    });

    test.concurrent("hanging, after a drain that took all the time: both fit", async () => {
      await using envoy = await startEnvoy({ "/quitquitquit": "hanging" });
      envoy.stats = busy(2);
      const ended = await drain(envoy, 2000, "--then-quit", "--quit-timeout", "60s");
      expect(ended.log).toContainEqual(expect.objectContaining({ msg: "ebb: draining", atMostMs: 1800 }));
      expect(drainLineOf(ended)).toMatchObject({ outcome: "out of time with 2 left (2 connections)" });
      expect(quitLineOf(ended)).toMatchObject({ outcome: "no answer in time" });
      expect(quitLineOf(ended).tookMs).toBeLessThan(10_000); // of 60 s; 200 ms were left for it
      expect(ended.code).toBe(69);
    });
  });
});

describe("in run the command is stopped in time, with its own code, where", () => {
  test.concurrent.each<[string, Fault]>([
    ["healthcheck/fail", "hanging"],
    ["healthcheck/fail", "dying"],
    ["drain_listeners", "endless"],
    ["stats", "hanging"],
    ["stats", "garbage"],
    ["stats", "dying"],
    ["stats", "endless"],
    ["config_dump", "hanging"],
  ])("%s is %s", async (endpoint, fault) => {
    await using envoy = await startEnvoy({ [`/${endpoint}`]: fault });
    const flags = ["--admin", envoy.url, "--sidecar", "istio", "--quit", `${envoy.url}/quitquitquit`];
    const limits = ["--drain", "2500ms", "--min-drain", "100ms"];
    await using started = startEbb(["run", ...flags, ...limits, "--", childPath(), "record"]);
    await until("the child is ready", () => started.stdout() === "ready\n");
    const start = performance.now();
    started.kill("SIGTERM");
    const ended = await started.ended;
    expect(performance.now() - start).toBeLessThan(2500 + SLACK_MS);
    expect(ended.stdout).toBe("ready\n15\n");
    expect(drainLineOf(ended).outcome).toBeString();
    expect(ended.code).toBe(0);
    expect(envoy.isRunning()).toBe(false);
  });
});
