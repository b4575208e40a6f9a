import { expect, setDefaultTimeout, test } from "bun:test";
import { childPath } from "../../harness/compiled.ts";
import {
  drainLineOf,
  ebbPath,
  type LogLine,
  lineOf,
  quitLineOf,
  type Started,
  startEbb,
  until,
} from "../../harness/ebb.ts";
import { type StandInEnvoy, startEnvoy } from "../../stand-in/envoy.ts";
import { busy, idle } from "../../stand-in/envoy-answers.ts";
import { startAtTerminal } from "./at-terminal.ts";

setDefaultTimeout(20_000);

const quick = ["--drain", "20s", "--min-drain", "100ms"];

/** `ebb run` beside it, with a child that writes `ready` and each signal, and ends with 0 at SIGTERM. Resolves when it is ready. */
async function startRun(envoy: StandInEnvoy, flags: readonly string[], env = {}, words = ["record"]): Promise<Started> {
  const started = startEbb(["run", "--admin", envoy.url, ...flags, "--", childPath(), ...words], { env });
  await until("the child is ready", () => started.stdout() === "ready\n");
  return started;
}

function untilItCounts({ stderr }: Started): Promise<boolean> {
  return until("it counts", () => stderr().includes('"msg":"ebb: in flight"'));
}

function messages(log: readonly LogLine[]): readonly string[] {
  return log.map(({ msg }) => msg.replace("ebb: ", ""));
}

const drains = ["POST /healthcheck/fail", "POST /drain_listeners"];

test.concurrent("without --drain a stop signal reaches the child at once, and nothing is drained", async () => {
  await using envoy = await startEnvoy();
  await using started = await startRun(envoy, []);
  started.kill("SIGTERM");
  const ended = await started.ended;
  expect(ended.stdout).toBe("ready\n15\n");
  expect(envoy.requests.filter((request) => request !== "GET /ready")).toEqual(["POST /quitquitquit"]);
  expect(ended.code).toBe(0);
});

test.concurrent.each<[string, readonly string[], object]>([
  ["--drain", quick, {}],
  ["EBB_DRAIN and EBB_MIN_DRAIN", [], { EBB_DRAIN: "20s", EBB_MIN_DRAIN: "100ms" }],
  ["other tools' variables", [], { TERMINATION_DRAIN_DURATION_SECONDS: "20", MINIMUM_DRAIN_DURATION: "100ms" }],
])("with %s it is drained first, then the child is stopped, then it is quit", async (_, flags, env) => {
  await using envoy = await startEnvoy();
  envoy.stats = busy(1);
  await using started = await startRun(envoy, flags, env);
  started.kill("SIGTERM");
  await untilItCounts(started);
  expect(started.stdout()).toBe("ready\n");
  envoy.stats = idle;
  const ended = await started.ended;
  expect(ended.stdout).toBe("ready\n15\n");
  const requests = [...drains, "GET /stats", "GET /stats", "POST /quitquitquit"];
  expect(envoy.requests.filter((request) => request !== "GET /ready")).toEqual(requests);
  const last = ["received a stop signal: draining", "drain ended", "asked the sidecar to exit", "done"];
  expect(messages(ended.log).filter((msg) => last.includes(msg))).toEqual(last);
  const stop = { level: "info", signal: "SIGTERM", atMostMs: 20_000 };
  expect(lineOf(ended, "received a stop signal: draining")).toMatchObject(stop);
  expect(ended.code).toBe(0);
});

test.concurrent("the summary is the last line, too, if the child ends by itself and nothing is quit", async () => {
  await using envoy = await startEnvoy();
  envoy.stats = busy(1);
  await using started = await startRun(envoy, [...quick, "--quit-on", "never"], {}, ["record", "10"]);
  started.kill("SIGTERM");
  await untilItCounts(started);
  started.kill("SIGUSR1");
  const ended = await started.ended;
  expect(messages(ended.log).slice(-3)).toEqual(["kept the sidecars running", "drain ended", "done"]);
  expect(drainLineOf(ended)).toMatchObject({ level: "info", outcome: "cut short" });
  expect(lineOf(ended, "done")).toMatchObject({ drainedMs: expect.any(Number), exitCode: 0 });
  expect(ended.code).toBe(0);
});

test.concurrent("the grace begins when the child gets its stop signal, not before", async () => {
  await using envoy = await startEnvoy();
  envoy.stats = busy(1);
  const flags = ["--drain", "1500ms", "--min-drain", "0", "--grace", "200ms"];
  await using started = await startRun(envoy, flags, {}, ["ignore", "15"]);
  started.kill("SIGTERM");
  const ended = await started.ended;
  const order = [
    "could not drain the sidecar",
    "grace period over: sent SIGKILL to what is left of the command",
    "asked the sidecar to exit",
  ];
  expect(messages(ended.log).filter((msg) => order.includes(msg))).toEqual(order);
  expect(ended.code).toBe(137);
});

/** Resolves once ebb has read so many signals; its log must be at debug. */
function untilItHasRead({ stderr }: Started, count: number): Promise<boolean> {
  return until("it has read the signals", () => stderr().split('"msg":"ebb: received a signal"').length > count);
}

test.concurrent("a repeat of the stop signal is the same stop: the drain goes on, and the child gets one", async () => {
  await using envoy = await startEnvoy();
  envoy.stats = busy(1);
  await using started = await startRun(envoy, [...quick, "--log-level", "debug"]);
  for (const count of [1, 2, 3]) {
    started.kill("SIGTERM");
    await untilItHasRead(started, count);
  }
  await untilItCounts(started);
  expect(started.stdout()).toBe("ready\n");
  envoy.stats = idle;
  const ended = await started.ended;
  expect(ended.stdout).toBe("ready\n15\n");
  expect(drainLineOf(ended)).toMatchObject({ level: "info", outcome: "drained" });
  expect(ended.code).toBe(0);
});

test.concurrent("SIGINT twice at a terminal cuts it short at once: a person means the second one", async () => {
  await using envoy = await startEnvoy();
  envoy.stats = busy(1);
  const flags = ["--admin", envoy.url, "--drain", "1h", "--min-drain", "1h", "--log-format", "json"];
  const call = [ebbPath, "run", ...flags, "--", childPath(), "record", "2"].join(" ");
  await using at = startAtTerminal("sh", "-c", `echo pid $$; exec ${call}`);
  const [, pid] = await at.shows(/pid (\d+)\n/);
  await at.shows("ready\n");
  process.kill(Number(pid), "SIGINT");
  await at.shows("received a stop signal: draining");
  process.kill(Number(pid), "SIGINT");
  await at.shows('"outcome":"cut short"');
  expect(await at.exited).toBe(0);
});

test.concurrent("a third stop signal is forwarded as each", async () => {
  await using envoy = await startEnvoy();
  envoy.stats = busy(1);
  await using started = await startRun(envoy, quick, {}, ["record", "12"]);
  started.kill("SIGTERM");
  await untilItCounts(started);
  started.kill("SIGINT");
  await until("both reach the child", () => /^ready\n(2\n15|15\n2)\n$/.test(started.stdout()));
  started.kill("SIGQUIT");
  await until("the third reaches it", () => started.stdout().endsWith("\n3\n"));
  started.kill("SIGUSR2");
  const ended = await started.ended;
  expect(ended.code).toBe(0);
  expect(drainLineOf(ended)).toMatchObject({ level: "info", outcome: "cut short" });
  expect(envoy.requests.filter((request) => drains.includes(request))).toEqual(drains);
});

test.concurrent("the child gets a rewritten stop signal after the drain", async () => {
  await using envoy = await startEnvoy();
  await using started = await startRun(envoy, [...quick, "--rewrite-signal", "TERM:USR2"], {}, ["record", "12"]);
  started.kill("SIGTERM");
  const ended = await started.ended;
  expect(ended.stdout).toBe("ready\n12\n");
  expect(messages(ended.log)).toContain("drain ended");
});

test.concurrent("a stop signal that is not forwarded drains nothing", async () => {
  await using envoy = await startEnvoy();
  await using started = await startRun(envoy, [...quick, "--rewrite-signal", "TERM:0"], {}, ["record", "12"]);
  started.kill("SIGTERM");
  started.kill("SIGUSR2");
  const ended = await started.ended;
  expect(ended.stdout).toBe("ready\n12\n");
  expect(envoy.requests.filter((request) => drains.includes(request))).toEqual([]);
});

test.concurrent("any other signal that is rewritten to a stop signal drains", async () => {
  await using envoy = await startEnvoy();
  await using started = await startRun(envoy, [...quick, "--rewrite-signal", "USR1:TERM"]);
  started.kill("SIGUSR1");
  const ended = await started.ended;
  expect(ended.stdout).toBe("ready\n15\n");
  expect(envoy.requests.filter((request) => drains.includes(request))).toEqual(drains);
});

test.concurrent.each([
  ["--stop-signal QUIT", ["--stop-signal", "QUIT"], "15", false, true],
  ["--stop-signal QUIT,TERM", ["--stop-signal", "QUIT,TERM"], "15", true, false],
  ["--rewrite-signal TERM:QUIT", ["--rewrite-signal", "TERM:QUIT"], "3", true, false],
  ["both", ["--stop-signal", "QUIT", "--rewrite-signal", "TERM:QUIT"], "3", true, false],
] as const)("SIGTERM with %s", async (_, flags, received, drained, warned) => {
  await using envoy = await startEnvoy();
  await using started = await startRun(envoy, [...quick, ...flags], {}, ["record", received]);
  started.kill("SIGTERM");
  const ended = await started.ended;
  expect(ended.stdout).toBe(`ready\n${received}\n`);
  expect(envoy.requests.filter((request) => drains.includes(request))).toEqual(drained ? drains : []);
  const warnings = ended.log.filter(({ level }) => level === "warn");
  expect(warnings.map(({ msg, stopSignal }) => [msg, stopSignal])).toEqual(
    warned
      ? [["ebb: SIGTERM is not in --stop-signal: forwarding it without a drain or a grace period", "SIGQUIT"]]
      : [],
  );
});

test.concurrent("a stop signal while ebb waits drains nothing: there was no traffic", async () => {
  await using envoy = await startEnvoy({ "/ready": "500" });
  const args = ["run", "--admin", envoy.url, "--drain", "20s", "--", childPath(), "record"];
  await using started = startEbb(args);
  await until("it waits", () => started.stderr().includes("waiting until ready"));
  started.kill("SIGTERM");
  const ended = await started.ended;
  expect(envoy.requests.filter((request) => request !== "GET /ready")).toEqual(["POST /quitquitquit"]);
  expect(ended.code).toBe(143);
});

test.concurrent("EBB_POD_GRACE bounds drain and grace together", async () => {
  await using envoy = await startEnvoy();
  envoy.stats = busy(1);
  const env = { EBB_POD_GRACE: "3", EBB_DRAIN: "60s", EBB_MIN_DRAIN: "0", EBB_GRACE: "60s" };
  await using started = await startRun(envoy, [], env, ["ignore", "15"]);
  started.kill("SIGTERM");
  const ended = await started.ended;
  expect(ended.log).toContainEqual(expect.objectContaining({ atMostMs: 1000 }));
  const { graceMs } = lineOf(ended, "grace period over: sent SIGKILL to what is left of the command");
  expect(graceMs).toBeGreaterThan(500);
  expect(graceMs).toBeLessThanOrEqual(1000);
  expect(ended.code).toBe(137);
});

test.concurrent("the time of the pod's grace period that the drain did not need is the command's", async () => {
  await using envoy = await startEnvoy(); // nothing is in flight
  const env = { EBB_POD_GRACE: "4", EBB_DRAIN: "60s", EBB_MIN_DRAIN: "0", EBB_GRACE: "60s" };
  await using started = await startRun(envoy, [], env, ["ignore", "15"]);
  started.kill("SIGTERM");
  const ended = await started.ended;
  expect(ended.log).toContainEqual(expect.objectContaining({ atMostMs: 1500 }));
  const { graceMs } = lineOf(ended, "grace period over: sent SIGKILL to what is left of the command");
  expect(graceMs).toBeGreaterThan(2000); // of 3 s
  expect(ended.code).toBe(137);
});

test.concurrent("with --no-wait what is there is drained", async () => {
  await using envoy = await startEnvoy();
  await using started = await startRun(envoy, [...quick, "--no-wait"]);
  started.kill("SIGTERM");
  const ended = await started.ended;
  expect(ended.stdout).toBe("ready\n15\n");
  expect(envoy.requests).toEqual([...drains, "GET /stats", "POST /quitquitquit"]);
});

test.concurrent("the child is stopped after the minimum if there is no Envoy", async () => {
  const args = ["run", "--sidecar", "none", "--drain", "20s", "--min-drain", "300ms"];
  await using started = startEbb([...args, "--", childPath(), "record"]);
  await until("the child is ready", () => started.stdout() === "ready\n");
  const start = performance.now();
  started.kill("SIGTERM");
  const ended = await started.ended;
  expect(performance.now() - start).toBeGreaterThanOrEqual(290);
  expect(ended.stdout).toBe("ready\n15\n");
  expect(ended.code).toBe(0);
});

test.concurrent("a minimum by default that does not fit is said once it drains", async () => {
  await using envoy = await startEnvoy();
  await using started = await startRun(envoy, ["--drain", "1s"]);
  started.kill("SIGTERM");
  const { log } = await started.ended;
  expect(log).toContainEqual(expect.objectContaining({ level: "warn", minDrainMs: 5000, atMostMs: 1000, fitsMs: 500 }));
});

test.concurrent("a proxy that has gone before the drain holds nothing up, and is a warning: what it had in flight was cut off", async () => {
  const envoy = await startEnvoy();
  await using started = await startRun(envoy, ["--drain", "60s", "--min-drain", "20s"]);
  await envoy[Symbol.asyncDispose]();
  started.kill("SIGTERM");
  const ended = await started.ended;
  expect(drainLineOf(ended)).toMatchObject({ level: "warn", outcome: "Envoy had exited before the drain" });
  expect(quitLineOf(ended).outcome).toBe("had exited already");
  expect(ended.stdout).toBe("ready\n15\n");
  expect(ended.log.filter(({ level }) => level !== "info")).toHaveLength(1);
  expect(ended.code).toBe(0);
});

test.concurrent("the log has Envoy's answer to the undo of a former container's drain, however late", async () => {
  const leaving = Promise.withResolvers<void>();
  let state = "DRAINING";
  await using envoy = Bun.serve({
    port: 0,
    async fetch({ url }) {
      if (!url.endsWith("/healthcheck/ok")) return new Response(`${state}\n`, { status: state === "LIVE" ? 200 : 503 });
      state = "LIVE";
      await leaving.promise;
      return new Response("OK\n");
    },
  });
  const flags = ["--admin", `http://127.0.0.1:${envoy.port}`, "--restart-policy", "Always", "--quit-timeout", "1s"];
  await using started = startEbb(["run", ...flags, "--", "true"]);
  await until("it is about to end", () => started.stderr().includes('"ebb: kept the sidecars running"'));
  leaving.resolve();
  const { log, code } = await started.ended;
  const said = log.find(({ msg }) => msg.includes("for the previous container"));
  expect(said).toMatchObject({ level: "warn", answer: "HTTP 200" });
  expect(messages(log).at(-1)).toBe("done");
  expect(code).toBe(0);
});
