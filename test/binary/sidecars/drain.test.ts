import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { drainLineOf, ebb, lineOf, quitLineOf, startEbb, timeOf, until } from "../../harness/ebb.ts";
import { startEnvoy } from "../../stand-in/envoy.ts";
import { busy, idle } from "../../stand-in/envoy-answers.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";
import { quick } from "./drain-calls.ts";

setDefaultTimeout(20_000);

describe("ebb drain", () => {
  test.concurrent("fails health, drains listeners after the minimum, counts until idle, and leaves it running", async () => {
    await using envoy = await startEnvoy();
    envoy.stats = busy(1);
    await using started = startEbb(["drain", "--admin", envoy.url, "--drain", "20s", "--min-drain", "300ms"]);
    await until("it counts", () => started.stderr().includes('"connections":1'));
    envoy.stats = idle;
    const ended = await started.ended;
    expect(envoy.requests).toEqual(["POST /healthcheck/fail", "POST /drain_listeners", "GET /stats", "GET /stats"]);
    const failed = lineOf(ended, "made Envoy's health checks fail: it still accepts connections");
    expect(failed).toMatchObject({ sidecar: "envoy", request: `POST ${envoy.url}/healthcheck/fail` });
    const listeners = lineOf(ended, "draining the listeners");
    expect(listeners).toMatchObject({ request: `POST ${envoy.url}/drain_listeners?graceful&skip_exit` });
    expect(timeOf(listeners) - timeOf(lineOf(ended, "draining"))).toBeGreaterThanOrEqual(290);
    expect(drainLineOf(ended)).toMatchObject({ sidecar: "envoy", outcome: "drained" });
    expect(ended.stdout).toBe("");
    expect(ended.code).toBe(0);
    expect(envoy.isRunning()).toBe(true);
  });

  test.concurrent("--then-quit quits it when it is drained", async () => {
    await using envoy = await startEnvoy();
    const ended = await ebb(["drain", "--admin", envoy.url, ...quick, "--then-quit"]);
    expect(envoy.requests.at(-1)).toBe("POST /quitquitquit");
    expect(quitLineOf(ended)).toMatchObject({ sidecar: "envoy", outcome: "exited" });
    expect(ended.code).toBe(0);
  });

  test.concurrent("EBB_QUIT says what to request then, and is no --then-quit", async () => {
    await using envoy = await startEnvoy();
    await using other = await fakeSidecar();
    const env = { EBB_QUIT: `PUT ${other.url}/bye` };
    const first = await ebb(["drain", "--admin", envoy.url, ...quick], { env });
    expect(other.requests).toEqual([]);
    const second = await ebb(["drain", "--admin", envoy.url, ...quick, "--then-quit"], { env });
    expect(other.requests).toEqual(["PUT /bye"]);
    expect(envoy.requests).not.toContain("POST /quitquitquit");
    expect([first.code, second.code]).toEqual([0, 0]);
  });

  test.concurrent("--quiet says nothing where nothing went wrong", async () => {
    await using envoy = await startEnvoy();
    const ended = await ebb(["drain", "--admin", envoy.url, ...quick, "--quiet", "--then-quit"]);
    expect(ended.stderr).toBe("");
    expect(ended.code).toBe(0);
  });

  test.concurrent("--max-in-flight says how many may be left", async () => {
    await using envoy = await startEnvoy();
    envoy.stats = busy(3);
    const three = await ebb(["drain", "--admin", envoy.url, ...quick, "--max-in-flight", "3"]);
    expect(drainLineOf(three)).toMatchObject({ outcome: "drained" });
    expect(three.code).toBe(0);
    const two = await ebb(["drain", "--admin", envoy.url, "--drain", "1s", "--min-drain", "0", "--max-in-flight", "2"]);
    expect(drainLineOf(two)).toMatchObject({ outcome: "out of time with 3 left (3 connections)" });
    expect(two.code).toBe(69);
  });

  test.concurrent("each count is said once, until it changes", async () => {
    await using envoy = await startEnvoy();
    envoy.stats = busy(2);
    await using started = startEbb(["drain", "--admin", envoy.url, ...quick]);
    const counts = () => envoy.requests.filter((request) => request === "GET /stats").length;
    await until("it counts twice", () => counts() >= 2);
    envoy.stats = busy(1);
    await until("it counts again", () => started.stderr().includes('"connections":1'));
    envoy.stats = idle;
    const { log } = await started.ended;
    const said = log.filter(({ msg }) => msg === "ebb: in flight").map(({ connections }) => connections);
    expect(said).toEqual([2, 1, 0]);
  });

  test.concurrent("a minimum that just fits needs no word", async () => {
    await using envoy = await startEnvoy();
    const ended = await ebb(["drain", "--admin", envoy.url, "--drain", "2s", "--min-drain", "1s"]);
    expect(ended.log.filter(({ level }) => level === "warn")).toEqual([]);
    expect(ended.code).toBe(0);
  });

  test.concurrent("--drain 0 does nothing, and says so", async () => {
    await using envoy = await startEnvoy();
    const ended = await ebb(["drain", "--admin", envoy.url, "--drain", "0"]);
    expect(envoy.requests).toEqual([]);
    expect(ended.log).toMatchObject([{ level: "warn", msg: expect.stringContaining("no time to drain"), drain: 0 }]);
    expect(ended.code).toBe(0);
  });

  test.concurrent.each([
    ["nothing", {}, [], 60_000],
    ["EBB_DRAIN", { EBB_DRAIN: "2" }, [], 2000],
    ["TERMINATION_DRAIN_DURATION_SECONDS", { TERMINATION_DRAIN_DURATION_SECONDS: "7" }, [], 7000],
    ["EBB_DRAIN before it", { EBB_DRAIN: "2", TERMINATION_DRAIN_DURATION_SECONDS: "7" }, [], 2000],
    ["--drain before both", { EBB_DRAIN: "2", TERMINATION_DRAIN_DURATION_SECONDS: "7" }, ["--drain", "3s"], 3000],
    ["EBB_POD_GRACE, which leaves the app 5 s and the end one", { EBB_POD_GRACE: "30" }, [], 24_000],
    ["a short EBB_POD_GRACE, which leaves the app half", { EBB_POD_GRACE: "5" }, [], 2000],
    ["an EBB_POD_GRACE longer than the drain", { EBB_POD_GRACE: "30", EBB_DRAIN: "8s" }, [], 8000],
  ])("%s says how long all of it may take", async (_, env, flags, atMostMs) => {
    const args = ["drain", "--sidecar", "none", "--min-drain", "0", ...flags];
    const ended = await ebb(args, { env: env as Record<string, string> });
    expect(lineOf(ended, "draining")).toMatchObject({ atMostMs });
    expect(ended.code).toBe(0);
  });

  test.concurrent("no time is left by EBB_POD_GRACE: nothing is done, and that is said", async () => {
    await using envoy = await startEnvoy();
    const ended = await ebb(["drain", "--admin", envoy.url], { env: { EBB_POD_GRACE: "1" } });
    expect(envoy.requests).toEqual([]);
    expect(ended.stderr).toContain("no time to drain");
    expect(ended.code).toBe(0);
  });

  test.concurrent.each([
    ["SIGTERM", 143],
    ["SIGINT", 130],
    ["SIGHUP", 129],
  ] as const)("%s ends it at once, and nothing is quit", async (signal, code) => {
    await using envoy = await startEnvoy();
    envoy.stats = busy(1);
    await using started = startEbb(["drain", "--admin", envoy.url, ...quick, "--then-quit"]);
    await until("it counts", () => started.stderr().includes('"connections":1'));
    started.kill(signal);
    const ended = await started.ended;
    expect(drainLineOf(ended)).toMatchObject({ level: "info", outcome: "cut short" });
    expect(ended.code).toBe(code);
    expect(envoy.isRunning()).toBe(true);
  });

  test.concurrent.each(["healthcheck/fail", "drain_listeners", "stats"] as const)(
    "a stop signal ends it while %s hangs",
    async (endpoint) => {
      await using envoy = await startEnvoy({ [`/${endpoint}`]: "hanging" });
      await using started = startEbb(["drain", "--admin", envoy.url, ...quick]);
      await until("it is asked", () => envoy.requests.some((request) => request.endsWith(endpoint)));
      started.kill("SIGTERM");
      const ended = await started.ended;
      expect(drainLineOf(ended)).toMatchObject({ outcome: "cut short" });
      expect(ended.code).toBe(143);
    },
  );

  test.concurrent("a stop signal ends it while the quit hangs", async () => {
    await using envoy = await startEnvoy({ "/quitquitquit": "hanging" });
    const flags = ["--drain", "60s", "--min-drain", "0", "--then-quit", "--quit-timeout", "60s"];
    await using started = startEbb(["drain", "--admin", envoy.url, ...flags]);
    await until("it is asked", () => envoy.requests.includes("POST /quitquitquit"));
    started.kill("SIGTERM");
    expect((await started.ended).code).toBe(143);
  });

  test.concurrent("--drain 0 --then-quit quits all the same", async () => {
    await using envoy = await startEnvoy();
    const ended = await ebb(["drain", "--admin", envoy.url, "--drain", "0", "--then-quit"]);
    expect(envoy.requests).toEqual(["POST /quitquitquit"]);
    expect(ended.code).toBe(0);
  });

  test.concurrent.each([
    [["drain", "now"], "now: unexpected argument"],
    [["drain", "--drain", "soon"], "--drain: expected a duration"],
    [["drain", "--max-in-flight", "-1"], "--max-in-flight: expected a whole number"],
    [["drain", "--quit", "http://localhost:1/bye"], "--quit: expected --then-quit too"],
    [["drain", "--signal-process", "app"], "--signal-process: expected --then-quit too"],
    [["drain", "--quit"], "--quit: expected a value ([+][METHOD ]URL)"],
  ])("%j is a usage error", async (args, text) => {
    const ended = await ebb(args);
    expect(ended.stderr).toContain(text);
    expect(ended.code).toBe(64);
  });
});
