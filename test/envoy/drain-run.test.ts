import { expect, setDefaultTimeout, test } from "bun:test";
import { SIG } from "../../src/shared/core/signal.ts";
import { childPath } from "../harness/compiled.ts";
import { drainLineOf, isDrainLine, lineOf, type Started, startEbb, until } from "../harness/ebb.ts";
import { describeAgainstEnvoy, quitOf, says } from "./against-envoy.ts";
import type { Envoy } from "./envoy.ts";
import { holdIdle, holdRequest, startBackend, startLoad, startProxy } from "./traffic.ts";

setDefaultTimeout(20_000);

/** `ebb run` beside it, with a child that writes `ready` and each signal's number, and ends with 0 at `last`. Resolves when it is ready. */
async function startRun(envoy: Envoy, flags: readonly string[], last: number = SIG.TERM): Promise<Started> {
  const all = ["--admin", envoy.admin, "--min-drain", "200ms", ...flags];
  const started = startEbb(["run", ...all, "--", childPath(), "record", `${last}`]);
  await until("the child is ready", () => started.stdout() === "ready\n");
  return started;
}

describeAgainstEnvoy("ebb run --drain beside a real Envoy", () => {
  test.concurrent("has the traffic end before the child gets its stop signal, and then quits Envoy", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const way = { port: envoy.portOf("http"), backend };
    await using started = await startRun(envoy, ["--drain", "20s"]);
    const idle = await holdIdle(way);
    const load = startLoad(way.port, 3, 2);
    const held = await holdRequest(way, "/hold/1");
    await until("traffic", () => load.answered.length > 50);
    started.kill("SIGTERM");
    await says(started, "made Envoy's health checks fail");
    const { length: atFailure } = load.answered;
    await until("connections are still accepted", () => load.answered.length > atFailure + 50);
    load.deregister();
    await load.done;
    await says(started, '"requests":1');
    expect(started.stdout()).toBe("ready\n");
    expect(idle.isClosed()).toBe(false);
    expect(await held.finish()).toBe("200 /hold/1");
    const ended = await started.ended;
    expect(ended.stdout).toBe("ready\n15\n");
    expect(load.failed).toEqual([]);
    expect(load.answered).toHaveLength(load.sent.length);
    const order = [
      "started the command",
      "received a stop signal: draining",
      "draining the listeners",
      "drain ended",
      "asked the sidecar to exit",
      "done",
    ];
    const said = ended.log.map(({ msg }) => msg.replace("ebb: ", ""));
    expect(said.filter((each) => order.includes(each))).toEqual(order);
    expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
    expect(quitOf(ended)).toMatchObject({ outcome: "exited" });
    const { waitedMs, ranMs, drainedMs, quitMs, exitCode } = lineOf(ended, "done");
    expect([waitedMs, ranMs, drainedMs, quitMs].map((each) => typeof each)).toEqual(Array(4).fill("number"));
    expect(drainedMs).toBeGreaterThan(200);
    expect(ranMs).toBeGreaterThan(drainedMs as number);
    expect(exitCode).toBe(0);
    expect(ended.code).toBe(0);
    expect(await envoy.ended).toBe(0);
  });

  test.concurrent("the end of an Envoy whose container has ebb drain as its hook is no warning: nothing was lost", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const held = await holdRequest({ port: envoy.portOf("http"), backend }, "/hold/1");
    await using started = await startRun(envoy, ["--drain", "20s", "--min-drain", "5s"]);
    const limits = ["--drain", "20s", "--min-drain", "1500ms"];
    await using hook = startEbb(["drain", "--admin", envoy.admin, ...limits]);
    started.kill("SIGTERM");
    await says(hook, '"requests":1');
    expect(await held.finish()).toBe("200 /hold/1");
    expect((await hook.ended).code).toBe(0);
    envoy.kill("SIGTERM");
    const ended = await started.ended;
    expect(drainLineOf(ended)).toMatchObject({
      level: "info",
      outcome: expect.stringContaining("preStop hook, ebb drain"),
    });
    expect(ended.log.filter(({ level }) => level === "warn")).toEqual([]);
    expect(ended.code).toBe(0);
  });

  test.concurrent("the end of one that gets its SIGTERM together with the app is a warning: its request was cut off", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const held = await holdRequest({ port: envoy.portOf("http"), backend }, "/hold/1");
    await using started = await startRun(envoy, ["--drain", "20s", "--min-drain", "1500ms"]);
    envoy.kill("SIGTERM");
    started.kill("SIGTERM");
    const ended = await started.ended;
    expect(drainLineOf(ended)).toMatchObject({
      level: "warn",
      outcome: expect.stringMatching(/^Envoy (had )?exited /),
    });
    held.drop();
    expect(ended.code).toBe(0);
  });

  test.concurrent("a drain as long as its minimum leaves what is in flight to the app, which is no warning", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    const way = { port: envoy.portOf("http"), backend };
    await using started = await startRun(envoy, ["--drain", "1s", "--min-drain", "1s"], SIG.USR2);
    const held = await holdRequest(way, "/hold/1");
    started.kill("SIGTERM");
    await until("the child gets its stop signal", () => started.stdout() === "ready\n15\n");
    expect(await held.finish()).toBe("200 /hold/1");
    started.kill("SIGUSR2");
    const ended = await started.ended;
    const outcome = "1 left (1 request): the app ends them";
    expect(drainLineOf(ended)).toMatchObject({ level: "info", msg: "ebb: drain ended", outcome });
    expect(ended.log.filter(({ level }) => level !== "info")).toEqual([]);
    expect(ended.code).toBe(0);
  });

  test.concurrent("an Envoy that nothing has waited for is known to the quit, since the drain has seen it", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    await using started = await startRun(envoy, ["--no-wait", "--drain", "20s"], SIG.USR2);
    started.kill("SIGTERM");
    await until("the child gets its stop signal", () => started.stdout() === "ready\n15\n");
    envoy.kill("SIGTERM");
    await envoy.ended;
    started.kill("SIGUSR2");
    expect(quitOf(await started.ended)).toMatchObject({ level: "info", outcome: "had exited already" });
  });

  test.concurrent("a command that ends by itself is not drained for", async () => {
    await using backend = await startBackend();
    await using envoy = await startProxy(backend);
    await using started = await startRun(envoy, ["--drain", "60s"], SIG.USR2);
    started.kill("SIGUSR2");
    const ended = await started.ended;
    expect(ended.log.filter(isDrainLine)).toEqual([]);
    expect(lineOf(ended, "done")).not.toHaveProperty("drainedMs");
    expect(quitOf(ended)).toMatchObject({ outcome: "exited" });
    expect(ended.code).toBe(0);
  });
});
