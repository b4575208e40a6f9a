import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { quitLineOf, temporaryFolder, until } from "../../harness/ebb.ts";
import { factTests } from "../facts.ts";
import { lifeTests, run, startReady } from "../life.ts";
import { startPod } from "../pod.ts";
import { stableStatus } from "../status.ts";
import { stopTests } from "../stop.ts";
import { daprd } from "./subject.ts";

/** Its body does not end. */
const halfRequest = `exec 3<>/dev/tcp/127.0.0.1/3500
printf 'PUT /v1.0/metadata/key HTTP/1.1\\r\\nHost: localhost\\r\\nContent-Length: 10\\r\\n\\r\\nhalf' >&3
echo sent
read -r _ <&3`;

describe.each(["daprd-1.14", "daprd-1.18"] as const)("%s", (name) => {
  const dapr = daprd(name);
  lifeTests(dapr);
  factTests(dapr, { 404: "GET 3500/v1.0/shutdown" });

  const ready = { at: "3500/v1.0/healthz", status: 204 } as const; // before, it would end at SIGTERM without its block
  stopTests({
    subject: { ...dapr, ready },
    delayed: { ...daprd(name, { flags: ["--dapr-block-shutdown-duration", "1m"] }), ready },
    addresses: ["http://127.0.0.1:3500/v1.0/metadata"],
  });

  test("a shutdown is POST, answered with 204, and asks for the token where there is one", async () => {
    await using pod = await startPod();
    const token = { DAPR_API_TOKEN: "s3cret" };
    const { container } = await startReady(daprd(name, { env: token }), pod);
    expect(await pod.request("GET 3500/v1.0/shutdown")).toMatchObject({ status: 401 });
    const without = await run(pod, ["quit"], dapr.env);
    expect(without.code).toBe(69);
    expect(quitLineOf(without).outcome).toMatch(/^HTTP 401: .*DAPR_API_TOKEN/);
    const quit = await run(pod, ["quit"], { ...dapr.env, ...token });
    expect(quitLineOf(quit)).toMatchObject({ status: 204, outcome: expect.stringMatching(dapr.quitOutcome) });
    expect(await container.ended).toBe(0);
  });

  test("a block before the shutdown is not for quits", async () => {
    await using pod = await startPod();
    const { container } = await startReady(daprd(name, { flags: ["--dapr-block-shutdown-duration", "30s"] }), pod);
    const quit = await run(pod, ["quit"], dapr.env);
    expect(quitLineOf(quit)).toMatchObject({ level: "info", outcome: expect.stringMatching(dapr.quitOutcome) });
    expect(await container.ended).toBe(0);
  });

  test("with a request under way it closes its port, and ends with 1 after its grace period of 5 s", async () => {
    await using pod = await startPod();
    const { container } = await startReady(dapr, pod);
    const caller = await pod.start(["bash", "-c", halfRequest]);
    await until("the request is under way", () => caller.log().includes("sent"));
    const start = performance.now();
    const quit = await run(pod, ["quit"], dapr.env);
    expect(quitLineOf(quit)).toMatchObject({
      level: "info",
      status: 204,
      outcome: expect.stringMatching(dapr.quitOutcome),
    });
    expect(quit.code).toBe(0);
    expect(await container.ended).toBe(1); // it was not graceful
    expect(performance.now() - start).toBeGreaterThan(4500);
  });

  test("the header dapr-force-shutdown, which is the user's to give, ends a daprd that knows it at once, with 1", async () => {
    await using pod = await startPod();
    const { container } = await startReady(dapr, pod);
    const caller = await pod.start(["bash", "-c", halfRequest]);
    await until("the request is under way", () => caller.log().includes("sent"));
    const start = performance.now();
    const quit = await run(pod, ["quit", "--header", "dapr-force-shutdown: true"], dapr.env);
    expect(quitLineOf(quit)).toMatchObject({ level: "info", status: 204 });
    expect(await container.ended).toBe(1);
    const tookMs = performance.now() - start;
    if (name === "daprd-1.18") expect(tookMs).toBeLessThan(4000);
    else expect(tookMs).toBeGreaterThan(4500); // it waits for its grace period
  });

  test("its API on a unix socket is found where the pod's annotations say so", async () => {
    await using pod = await startPod();
    using sockets = temporaryFolder();
    using folder = temporaryFolder();
    const annotations = join(folder.path, "annotations");
    await Bun.write(annotations, `dapr.io/unix-domain-socket-path="${sockets.path}"\ndapr.io/app-id="app"\n`);
    const { container } = await daprd(name, { flags: ["--unix-domain-socket", sockets.path] }).start(pod);
    const words = ["run", "--pod-annotations", annotations, "--detect-timeout", "20s", "--", "sh", "-c", "exit 3"];
    const ended = await run(pod, words, dapr.env);
    expect(quitLineOf(ended)).toMatchObject({
      sidecar: "dapr",
      status: 204,
      outcome: expect.stringMatching(dapr.quitOutcome),
    });
    expect(ended.code).toBe(3);
    expect(await container.ended).toBe(0);
  });

  test("its status", async () => {
    await using pod = await startPod();
    await startReady(dapr, pod);
    expect(await stableStatus(pod, dapr.env)).toMatchObject({
      stderr: "",
      foundBy: "DAPR_HTTP_PORT",
      sidecars: [
        {
          ...{ name: "dapr", native: false, ready: true, envoy: null },
          probes: [{ target: "http://localhost:3500/v1.0/healthz/outbound", ready: true, reason: null }],
        },
      ],
      findings: ["app-unseen"],
    });
  });
});
