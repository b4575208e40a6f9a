import { expect, test } from "bun:test";
import { connect } from "node:net";
import { childPath } from "../harness/compiled.ts";
import { ebb, startEbb, until } from "../harness/ebb.ts";
import { freePort } from "../harness/free-port.ts";
import { describeAgainstEnvoy, job, quitOf, untilNotReady } from "./against-envoy.ts";
import { startEnvoy } from "./envoy.ts";
import { startControlPlane, startUpstream } from "./servers.ts";

describeAgainstEnvoy("a command beside a real Envoy", () => {
  test("that starts before Envoy does waits for it, calls through it, and Envoy is gone when its code is returned", async () => {
    await using upstream = startUpstream();
    const [adminPort, listenerPort] = [await freePort(), await freePort()];
    const url = `http://127.0.0.1:${listenerPort}`;
    await using started = startEbb(["run", "--admin", `http://localhost:${adminPort}`, "--", ...job(url, 100, 42)]);
    await until("ebb waits", () => started.stderr().includes("waiting until ready"));
    const admin = { host: "127.0.0.1", port: adminPort };
    await using envoy = await startEnvoy({ upstreamPort: upstream.port, admin, listenerPort });
    const ended = await started.ended;
    expect(ended.stdout).toBe("first request: 200\n100 of 100 requests answered\n");
    expect(ended.code).toBe(42);
    expect(upstream.requests()).toBe(100);
    expect(quitOf(ended)).toMatchObject({ sidecar: "envoy", status: 200, outcome: "exited" });
    expect(await envoy.ended).toBe(0);
  });

  test.each([
    ["endpoints", "PRE_INITIALIZING"],
    ["routes", "INITIALIZING"],
  ] as const)("is not started while Envoy, its admin open, waits for %s and is %s", async (what, state) => {
    await using upstream = startUpstream();
    await using waitsFor = startControlPlane(what, upstream.port);
    await using envoy = await startEnvoy({ upstreamPort: upstream.port, waitsFor });
    await until("Envoy asks its control plane", () => waitsFor.waiting() > 0);
    await using started = startEbb(["run", "--admin", envoy.admin, "--", ...job(envoy.url, 100, 42)]);
    await untilNotReady(started, state);
    expect(started.stderr()).not.toContain("started");
    waitsFor.release();
    const ended = await started.ended;
    expect(ended.stdout).toBe("first request: 200\n100 of 100 requests answered\n");
    expect(ended.code).toBe(42);
    expect(quitOf(ended)).toMatchObject({ outcome: "exited" });
    expect(await envoy.ended).toBe(0);
  });

  test("has Envoy to the end of its last request when a stop signal comes during traffic", async () => {
    await using upstream = startUpstream();
    await using envoy = await startEnvoy({ upstreamPort: upstream.port });
    await using started = startEbb(["run", "--admin", envoy.admin, "--", ...job(envoy.url, 0, 7)]);
    await until("traffic", () => upstream.requests() > 20);
    started.kill("SIGTERM");
    const ended = await started.ended;
    expect(ended.stdout).toEndWith(`\n${upstream.requests()} of ${upstream.requests()} requests answered\n`);
    expect(ended.code).toBe(7);
    expect(quitOf(ended)).toMatchObject({ outcome: "exited" });
    expect(await envoy.ended).toBe(0);
  });

  test.each([
    ["SIGTERM", 0],
    ["SIGKILL", 137],
  ] as const)("keeps its code when Envoy is ended by %s meanwhile", async (signal, envoyCode) => {
    await using upstream = startUpstream();
    await using envoy = await startEnvoy({ upstreamPort: upstream.port });
    await using started = startEbb(["run", "--admin", envoy.admin, "--", ...job(envoy.url, 0, 42)]);
    await until("traffic", () => upstream.requests() > 0);
    envoy.kill(signal);
    expect(await envoy.ended).toBe(envoyCode);
    started.kill("SIGTERM");
    const ended = await started.ended;
    expect(ended.stdout).toContain("requests answered");
    expect(ended.code).toBe(1); // the job's, of which a request failed
    expect(quitOf(ended)).toMatchObject({ level: "info", outcome: "had exited already" });
  });

  test("does not wait at its end for a connection that somebody keeps open through Envoy", async () => {
    await using upstream = startUpstream();
    await using envoy = await startEnvoy({ upstreamPort: upstream.port });
    const idle = connect(Number(new URL(envoy.url).port), "127.0.0.1");
    const closed = new Promise((close) => idle.once("close", close));
    idle.on("error", () => undefined).write("GET / HTTP/1.1\r\nHost: app\r\n\r\n");
    await new Promise((answer) => idle.once("data", answer));
    const ended = await ebb(["run", "--admin", envoy.admin, "--", childPath(), "exit", "42"]);
    expect(ended.code).toBe(42);
    const quit = quitOf(ended);
    expect(quit).toMatchObject({ outcome: "exited" });
    expect(quit.tookMs).toBeLessThan(4500); // Envoy's drain time is 600 s where nobody sets it
    expect(await envoy.ended).toBe(0);
    await closed;
  });
});
