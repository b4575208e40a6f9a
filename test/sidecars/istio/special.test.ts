import { expect, test } from "bun:test";
import { join } from "node:path";
import { open } from "../../envoy/traffic.ts";
import { childPath } from "../../harness/compiled.ts";
import {
  drainLineOf,
  ebbPath,
  isQuitLine,
  quitLineOf,
  type Started,
  temporaryFolder,
  until,
} from "../../harness/ebb.ts";
import { within } from "../../harness/time.ts";
import { drain, expectTook, MIN_MS, startPair } from "../drain.ts";
import { endOf, run, startReady } from "../life.ts";
import { type Pod, signalEbb, startPod } from "../pod.ts";
import { besideIstiod, ports } from "./istiod.ts";
import { istioMesh } from "./subject.ts";

besideIstiod();

const istio = istioMesh();

test("before its first request, when its clusters have no hosts, a drain ends after the minimum", async () => {
  await using pod = await startPod();
  await startReady(istio, pod);
  const clusters = (await pod.request("15000/clusters"))?.body ?? "";
  expect(clusters).toContain("inbound|8080||::observability_name::");
  expect(clusters).not.toMatch(/^inbound\|8080\|\|::[^\n]*::rq_active::/m);
  const drained = await drain(istio, pod);
  expect(drained.came).toEqual({ code: 0, outcome: "drained" });
  expectTook(drained, MIN_MS);
});

test("a connection to a port that no service names holds a drain until it ends", async () => {
  await using pod = await startPod();
  await startPair(istio, pod);
  const server =
    'Bun.listen({hostname: "0.0.0.0", port: 7777, socket: {data: (s, d) => void s.write(d)}}); console.log("up")';
  const echo = await pod.start([process.execPath, "-e", server]);
  await until("the server listens", () => echo.log().includes("up"));
  const { socket, received } = await open(7777, pod.address);
  socket.write("\u0001 is no HTTP\n");
  await until("it comes back", () => received().length > 0);
  await using started = pod.startEbb(["drain", "--min-drain", "1s", "--drain", "30s"]);
  await until("ebb has counted it", () => started.stderr().includes('"requests":1'));
  socket.destroy();
  const ended = await endOf(started);
  expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
  expect(ended.code).toBe(0);
});

test("its readiness does not show that health checks fail, nor that its listeners drain", async () => {
  await using pod = await startPod();
  await startPair(istio, pod);
  await run(pod, ["drain", "--min-drain", "0", "--drain", "5s"]);
  expect(await pod.request("15000/ready")).toMatchObject({ status: 503 });
  expect(await pod.request("15020/healthz/ready")).toMatchObject({ status: 200 });
  expect(await pod.request("15021/healthz/ready")).toMatchObject({ status: 200 });
});

test("it takes quits from the pod's own loopback only", async () => {
  await using pod = await startPod();
  await startReady(istio, pod);
  const answer = await fetch(`http://${pod.address}:15020/quitquitquit`, { method: "POST" });
  expect(answer.status).toBe(403);
  const quit = await run(pod, ["quit", "--sidecar", "istio", "--quit", `http://${pod.address}:15020/quitquitquit`]);
  expect(quitLineOf(quit).outcome).toMatch(/^HTTP 403: .*only from the pod's own loopback/);
  expect(quit.code).toBe(69);
});

test("its status port is quit where the pod's annotation has moved it", async () => {
  await using pod = await startPod();
  using folder = temporaryFolder();
  const annotations = join(folder.path, "annotations");
  await Bun.write(annotations, 'status.sidecar.istio.io/port="15099"\nsidecar.istio.io/status="{}"\n');
  const { container } = await startReady(istioMesh({ config: { statusPort: 15_099 } }), pod);
  const ended = await run(pod, ["run", "--pod-annotations", annotations, "--", "true"]);
  expect(quitLineOf(ended)).toMatchObject({
    request: "POST http://localhost:15099/quitquitquit",
    outcome: "exited",
  });
  expect(await container.ended).toBe(0);
});

test("an app that ends while it exits by itself finds it leaving", async () => {
  await using pod = await startPod();
  const { container } = await startReady(istio, pod);
  await using started = pod.startEbb(["run", "--", "sh", "-c", "sleep 1"]);
  await until("the app runs", () => started.stderr().includes("started"));
  container.kill("SIGTERM");
  await until("its quit port is closed", async () => (await pod.request("15020/healthz/ready")) === undefined);
  const ended = await endOf(started);
  expect(quitLineOf(ended)).toMatchObject({ level: "info", outcome: "was exiting already" });
  expect(Number(quitLineOf(ended).tookMs)).toBeLessThan(1000);
  expect(await container.ended).toBe(0);
});

/** How long pilot-agent waits after its SIGTERM if nobody ends it. */
const patient = istioMesh({ config: { terminationDrainDuration: "40s" } });

const always = ["--restart-policy", "Always"];
const draining = [...always, "--drain", "10s", "--min-drain", "500ms"];

/** Starts an app in a pod whose proxy is ready. By default it drains at SIGTERM, and ends at signal `last`. */
async function startApp(pod: Pod, last = 15, flags: readonly string[] = draining): Promise<Started> {
  const all = ["--sidecar", "istio", ...flags];
  const started = pod.startEbb(["run", ...all, "--", childPath(), "record", `${last}`], { env: ownNetwork });
  await until("the app runs", () => started.stdout().includes("ready\n"));
  return started;
}

const ownNetwork = { EBB_HOST_NETWORK: "false" };
const endedEnvoy = "ebb: the agent only waits after its SIGTERM: asked its Envoy to exit";

test.each<[string, readonly string[]]>([
  ["has drained and ended", draining],
  ["has ended, which does not drain", always],
])("one that waits after its SIGTERM is ended once the app %s, whatever the restart policy", async (_, flags) => {
  await using pod = await startPod();
  const { container } = await startReady(patient, pod);
  await using started = await startApp(pod, 15, flags);
  container.kill("SIGTERM");
  await signalEbb(started, "SIGTERM");
  const { code, log } = await endOf(started);
  expect([code, log.map(({ msg }) => msg)]).toEqual([0, expect.arrayContaining([endedEnvoy])]);
  expect(await within(10_000, container.ended)).toBe(0);
});

test.each([[draining], [always]])(
  "one that has got no SIGTERM is not: only the app is restarted, %j",
  async (flags) => {
    await using pod = await startPod();
    const { container } = await startReady(patient, pod);
    await using started = await startApp(pod, 15, flags);
    await signalEbb(started, "SIGTERM");
    expect((await endOf(started)).log.map(({ msg }) => msg)).not.toContain(endedEnvoy);
    expect(container.isRunning()).toBe(true);
  },
);

test("one that another app still needs is not", async () => {
  await using pod = await startPod();
  const { container } = await startReady(patient, pod);
  await using started = await startApp(pod);
  await using other = pod.startEbb(["run", "--sidecar", "istio", "--", childPath(), "record", "15"], {
    env: ownNetwork,
  });
  await until("the other app runs", () => other.stdout().includes("ready\n"));
  container.kill("SIGTERM");
  await signalEbb(started, "SIGTERM");
  expect((await endOf(started)).log.map(({ msg }) => msg)).not.toContain(endedEnvoy);
  expect(container.isRunning()).toBe(true);
});

test("with ebb hold as its hook it stays until the app has ended, and then leaves at its SIGTERM at once", async () => {
  await using pod = await startPod();
  const { container } = await startReady(patient, pod);
  await using started = await startApp(pod, 12);
  await using hold = container.startEbb(["hold"], { env: ownNetwork });
  await until("it holds", () => hold.stderr().includes("holding the proxy"));
  await signalEbb(started, "SIGTERM");
  await until("it has closed the listeners", () => hold.stderr().includes("closed the inbound listeners"));
  await signalEbb(started, "SIGUSR2");
  await endOf(started);
  const { code, log } = await endOf(hold);
  expect([code, log.map(({ msg }) => msg)]).toEqual([
    0,
    [
      "ebb: holding the proxy until the apps have ended",
      "ebb: found",
      "ebb: closed the inbound listeners: the apps stop, and calls out go on",
      "ebb: told the agent to leave at its SIGTERM",
      "ebb: the apps have ended: letting the proxy go",
    ],
  ]);
  container.kill("SIGTERM");
  expect(await within(5000, container.ended)).toBe(0);
});

test("while it exits by itself, its quit port closed, it is not gone for ebb quit; then it is", async () => {
  await using pod = await startPod();
  const { container } = await startReady(istio, pod);
  container.kill("SIGTERM");
  await until("its quit port is closed", async () => (await pod.request("15020/healthz/ready")) === undefined);
  const early = await run(pod, ["quit", "--sidecar", "istio", "--quit-timeout", "2s"]);
  expect({ code: early.code, isRunning: container.isRunning() }).toEqual({ code: 69, isRunning: true });
  expect(quitLineOf(early).outcome).toMatch(/^connection refused: pilot-agent's status port is closed/);
  const ended = await run(pod, ["quit", "--sidecar", "istio", "--quit-timeout", "20s"]);
  expect({ code: ended.code, isRunning: container.isRunning() }).toEqual({ code: 0, isRunning: false });
  expect(quitLineOf(ended)).toMatchObject({ level: "info", msg: "ebb: the sidecar is gone, or was never here" });
});

test("as a native sidecar it is drained, and not quit; before the app starts again its health checks pass", async () => {
  await using pod = await startPod();
  using folder = temporaryFolder();
  const env = await asNative(folder.path);
  const { beside } = await startPair(istio, pod);
  const drained = await drain({ ...istio, env }, pod, ["--then-quit"]);
  expect(drained.came).toEqual({ code: 0, outcome: "drained" });
  expect(await pod.request("15000/ready")).toMatchObject({ status: 503 });
  const asks = [ebbPath, "request", "http://localhost:15000/ready"];
  const ended = await run(pod, ["run", "--restart-policy", "OnFailure", "--", ...asks], env);
  expect({ code: ended.code, stdout: ended.stdout }).toEqual({ code: 0, stdout: "LIVE\n" });
  expect(ended.log.filter(isQuitLine)).toEqual([]);
  expect(beside.container.isRunning()).toBe(true);
});

test("as a native sidecar it lets the app's own calls go on: by HTTP on new connections, a stream and TCP on theirs", async () => {
  await using pod = await startPod();
  using folder = temporaryFolder();
  const env = await asNative(folder.path);
  await startPair(istio, pod);
  const program = (name: string) => [process.execPath, join(import.meta.dirname, "../../cluster/programs", name)];
  const at = [ports.outsideHttp, ports.outsideGrpc, ports.outsideTcp].map(String);
  await using _ = Bun.spawn([...program("called.ts"), ...at], { stdio: ["ignore", "ignore", "inherit"] });
  await until("it can be called", async () => (await open(ports.outsideTcp).catch(() => undefined))?.socket.destroy());
  const call = ["run", "--drain", "15s", "--min-drain", "3s", "--", ...program("caller.ts"), pod.outside, ...at];
  await using started = pod.startEbb(call, { env });
  const kinds = ["http", "http2", "stream", "tcp"];
  await until("it calls", () => kinds.every((kind) => started.stdout().includes(`answered: ${kind}\n`)));
  await signalEbb(started, "SIGTERM");
  const ended = await endOf(started);
  expect(drainLineOf(ended)).toMatchObject({ outcome: "drained" });
  const said = ended.log.map(({ msg }) => msg);
  const health = said.indexOf("ebb: made Envoy's health checks fail: it still accepts connections");
  expect(said.indexOf("ebb: draining the listeners")).toBeWithin(0, health);
  expect(ended.stdout).not.toContain("lost: ");
  const last = JSON.parse(/^answered to the end (.*)$/m.exec(ended.stdout)?.[1] ?? "");
  for (const kind of [...kinds, "closes"]) expect(last[kind]).toBeGreaterThan(5);
});

/** Writes into a folder the annotations of a pod with a native sidecar; the variables that name them to ebb. */
async function asNative(folder: string): Promise<Readonly<Record<string, string>>> {
  const annotations = join(folder, "annotations");
  const status = JSON.stringify({ initContainers: ["istio-init", "istio-proxy"], containers: null });
  await Bun.write(annotations, `sidecar.istio.io/status=${JSON.stringify(status)}\n`);
  return { EBB_POD_ANNOTATIONS: annotations };
}
