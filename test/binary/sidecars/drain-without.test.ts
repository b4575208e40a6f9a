import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { drainLineOf, type Ended, ebb, ebbPath, isDrainLine, lineOf, startEbb, until } from "../../harness/ebb.ts";
import { idle } from "../../stand-in/envoy-answers.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";
import type { Port } from "../../stand-in/sidecars.ts";
import { quick } from "./drain-calls.ts";
import { canHaveNetwork, ebbBeside } from "./own-network.ts";

setDefaultTimeout(20_000);

describe("where there is no Envoy, ebb drain keeps accepting for the minimum", () => {
  test.concurrent("without a sidecar", async () => {
    const start = performance.now();
    const ended = await ebb(["drain", "--sidecar", "none", "--drain", "20s", "--min-drain", "300ms"]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(290);
    expect(ended.log.at(-1)).toMatchObject({ msg: expect.stringContaining("no Envoy to drain"), forMs: 300 });
    expect(ended.code).toBe(0);
  });

  test.concurrent("and no longer than the bound", async () => {
    const ended = await ebb(["drain", "--sidecar", "none", "--drain", "2s", "--min-drain", "60s"]);
    const forMs = ended.log.at(-1)?.forMs as number; // what finding out has taken counts too
    expect(forMs).toBeLessThanOrEqual(2000);
    expect(forMs).toBeGreaterThan(200);
    const said = { level: "warn", minDrainMs: 60_000, atMostMs: 2000, fitsMs: 2000 };
    expect(lineOf(ended, "--min-drain does not fit into the drain: shortened it")).toMatchObject(said);
    expect(ended.code).toBe(0);
  });

  test.concurrent("beside Linkerd, which it then quits", async () => {
    await using linkerd = await fakeSidecar();
    const named = ["--sidecar", "linkerd", "--admin", linkerd.url];
    await using started = startEbb(["drain", ...named, "--drain", "20s", "--min-drain", "300ms", "--then-quit"]);
    await until("it waits", () => started.stderr().includes("no Envoy to drain"));
    expect(linkerd.requests).toEqual([]);
    const ended = await started.ended;
    expect(linkerd.requests).toEqual(["POST /shutdown"]);
    expect(ended.code).toBe(0);
  });

  test.concurrent("beside an Envoy whose port is closed, which it then says", async () => {
    const start = performance.now();
    const named = ["--sidecar", "envoy", "--admin", "http://127.0.0.1:1"];
    const ended = await ebb(["drain", ...named, "--drain", "20s", "--min-drain", "300ms"]);
    expect(performance.now() - start).toBeGreaterThanOrEqual(290);
    expect(drainLineOf(ended)?.outcome).toStartWith("connection refused");
    expect(ended.code).toBe(69);
  });

  test.concurrent("but not when a stop signal comes", async () => {
    await using started = startEbb(["drain", "--sidecar", "none", "--drain", "60s", "--min-drain", "60s"]);
    await until("it waits", () => started.stderr().includes("no Envoy to drain"));
    started.kill("SIGTERM");
    expect((await started.ended).code).toBe(143);
  });
});

describe.skipIf(!canHaveNetwork)("in a network of its own (which needs root)", () => {
  test.concurrent("an Istio proxy that a former container has drained is quit before the command starts, though it says that it is ready", async () => {
    const istio = [{ port: 15000, stats: idle, readyForMs: 0 }, { port: 15020 }, { port: 15021 }] as const;
    const flags = ["--sidecar", "istio", "--restart-policy", "Always", "--quit-timeout", "2s"];
    const { code, requests, log } = await ebbBeside(istio, ["run", ...flags, "--", "/bin/sh", "-c", "exit 3"]);
    expect(requests.filter((request) => request.includes("POST"))).toEqual([
      "15000 POST /healthcheck/fail",
      "15000 POST /drain_listeners",
      "15020 POST /quitquitquit",
      // its Envoy, which no kubelet restarts here, still drains
      "15000 POST /healthcheck/ok",
    ]);
    const order = ["asked the sidecar to exit", "started the command", "kept the sidecars running"];
    expect(log.map(({ msg }) => msg.replace("ebb: ", "")).filter((msg) => order.includes(msg))).toEqual(order);
    expect(code).toBe(3);
  });

  /** Runs `ebb drain` once the sidecars listen. */
  function drainBeside(sidecars: readonly Port[], flags: readonly string[]): Promise<Ended> {
    const targets = sidecars.map(({ port }) => `tcp://127.0.0.1:${port}`);
    const wait = ["wait", "--sidecar", "none", "--quiet", ...targets, "--"];
    return ebbBeside(sidecars, [...wait, ebbPath, "drain", "--min-drain", "100ms", ...flags]);
  }

  test.concurrent("several are drained at the same time, one that hangs does not hold the other up", async () => {
    const sidecars = [
      { port: 9901, stats: idle },
      { port: 15000, hangs: true },
    ] as const;
    const ended = await drainBeside(sidecars, ["--sidecar", "envoy,istio", "--drain", "3s"]);
    const outcomes = ended.log.filter(isDrainLine);
    expect(outcomes).toMatchObject([
      { level: "info", sidecar: "envoy", outcome: "drained" },
      {
        level: "warn",
        sidecar: "istio",
        outcome: "out of time; what was left could not be counted, and may have been cut off",
      },
    ]);
    expect(ended.stderr).toContain("sidecar 15000 POST /healthcheck/fail\n");
    expect(ended.code).toBe(69);
  });

  test.concurrent("auto finds what to drain", async () => {
    const ended = await drainBeside([{ port: 9901, stats: idle }], ["--drain", "20s"]);
    expect(drainLineOf(ended)).toMatchObject({ sidecar: "envoy", outcome: "drained" });
    expect(ended.code).toBe(0);
  });

  test.concurrent("auto that finds nothing keeps accepting for the minimum", async () => {
    const ended = await ebbBeside([], ["drain", ...quick]);
    expect(ended.log.map(({ msg }) => msg)).toContain("ebb: no sidecar found");
    expect(ended.stderr).toContain("no Envoy to drain");
    expect(ended.code).toBe(0);
  });
});
