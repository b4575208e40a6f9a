import { describe, expect, test } from "bun:test";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoyPort, envoySidecar, patience, patientLook, podInfo } from "../envoy.ts";
import { type Container, configMapOf, exitCodeOf, hasCondition, type PodSpec, podOf, statusOf } from "../objects.ts";
import { programs } from "../programs.ts";

const { configMap, volume, container: envoy } = envoySidecar({ upstreamPort: 8081 });
const state = { name: "state", emptyDir: {} };

/** Fails twice, and then does not; it reaches the sidecar each time. */
const third = `
import { existsSync, readFileSync, writeFileSync } from "node:fs";
const tries = existsSync("/state/tries") ? Number(readFileSync("/state/tries", "utf8")) + 1 : 1;
writeFileSync("/state/tries", String(tries));
const { status } = await fetch("http://localhost:9901/ready");
console.log("try", tries, "sidecar", status);
process.exit(tries < 3 ? 7 : 0);
`;

/** Sick from the first request for /sick on, in its first life alone. */
const sickOnce = `
import { existsSync, writeFileSync } from "node:fs";
process.on("SIGTERM", () => process.exit(0));
const isFirst = !existsSync("/state/lived");
writeFileSync("/state/lived", "");
let isSick = false;
Bun.serve({ port: 8081, fetch({ url }) {
  isSick ||= isFirst && url.endsWith("/sick");
  return new Response("", { status: isSick ? 500 : 200 });
} });
`;

/** Takes memory until there is no more. Says first whether the kernel will then kill all of the container (cgroup v2). */
const greedy = `
import { existsSync, readFileSync } from "node:fs";
const file = "/sys/fs/cgroup/memory.oom.group";
console.log("whole container", existsSync(file) && readFileSync(file, "utf8").trim() === "1");
const all = [];
for (;;) { all.push(Buffer.alloc(16 << 20, 1)); await Bun.sleep(5); }
`;

const texts = configMapOf(programs.name, { "third.ts": third, "sick-once.ts": sickOnce, "greedy.ts": greedy });

/** A program under ebb. */
function inEbb(file: string, flags: readonly string[], more: object = {}): Container {
  const { command, volumeMounts, ...container } = programs.container("app", file);
  return {
    ...container,
    image: images.bunAndEbb,
    command: ["/ebb", "run", ...patientLook, ...flags, "--", ...command],
    volumeMounts: [...volumeMounts, { name: state.name, mountPath: "/state" }, podInfo.mount],
    ...more,
  };
}

async function start(here: Namespace, app: Container, spec: Partial<PodSpec> = {}, isNative = false): Promise<void> {
  const volumes = [volume, state, programs.volume, podInfo.volume];
  const containers = isNative
    ? { initContainers: [{ ...envoy, restartPolicy: "Always" }], containers: [app] }
    : { containers: [app, envoy] };
  const annotations = isNative ? { "ebb.dev/native": "envoy" } : {};
  await here.apply([configMap, texts, podOf("pod", { ...containers, volumes, ...spec }, { annotations })]);
}

describe("a container that the kubelet starts again, beside a real Envoy:", () => {
  test.concurrent("with restartPolicy OnFailure the sidecar lives until the last try, and the pod succeeds", async () => {
    await using here = await namespace();
    await start(here, inEbb("third.ts", ["--restart-policy", "OnFailure"]), { restartPolicy: "OnFailure" });
    await here.until("it has ended", async () => (await here.pod("pod")).status.phase === "Succeeded");
    const pod = await here.pod("pod");
    expect(statusOf(pod, "app")?.restartCount).toBe(2);
    expect(await here.logs("pod", "app")).toContain("try 3 sidecar 200\n");
    expect(statusOf(pod, "envoy")).toMatchObject({ restartCount: 0, state: { terminated: { exitCode: 0 } } });
  });

  test.concurrent.each([
    { as: "an ordinary sidecar, which is restarted", isNative: false, restarts: 1 },
    { as: "a native one, whose health checks pass again", isNative: true, restarts: 0 },
  ])(
    "after a liveness probe that failed, whose preStop hook has drained, the pod is ready again: $as",
    async ({ isNative, restarts }) => {
      await using here = await namespace();
      const hook = ["/ebb", "drain", "--drain", "20s", "--min-drain", "1s"];
      const app = inEbb("sick-once.ts", ["--restart-policy", "Always"], {
        lifecycle: { preStop: { exec: { command: hook } } },
        startupProbe: { httpGet: { path: "/", port: 8081 }, ...patience, periodSeconds: 1 },
        livenessProbe: { httpGet: { path: "/", port: 8081 }, ...patience, periodSeconds: 1, failureThreshold: 2 },
      });
      await start(here, app, { restartPolicy: "Always" }, isNative);
      const isReady = async () => hasCondition(await here.pod("pod"), "Ready");
      await here.until("it is ready", isReady);
      const firstLog = here.kubectl("logs", "--follow", "pod", "-c", "app");
      await here.exec("pod", "app", "/ebb", "request", "http://localhost:8081/sick");
      expect(await firstLog).toContain("made Envoy's health checks fail");
      await here.until("it is started again", async () => (await appOf(here))?.restartCount === 1);
      const log = () => here.logs("pod", "app");
      await here.until("the app runs", async () => (await log()).includes('"ebb: started the command"'));
      await here.until("it is ready", isReady);
      const undone = isNative ? "made its health checks pass again" : "Envoy still drains: asking it to exit";
      const said = await log();
      expect(said.indexOf(undone)).toBeWithin(0, said.indexOf('"ebb: started the command"'));
      const through = await here.exec("pod", "app", "/ebb", "request", `http://localhost:${envoyPort}/`);
      expect(through.code).toBe(0);
      expect(statusOf(await here.pod("pod"), "envoy")?.restartCount).toBe(restarts);
    },
  );
});

describe("a pod that ends in another way, beside an ordinary sidecar, a real Envoy:", () => {
  test.concurrent("a command that the kernel kills for its memory is OOMKilled, 137; the sidecar is quit where ebb lives", async () => {
    await using here = await namespace();
    await start(here, inEbb("greedy.ts", [], { resources: { limits: { memory: "192Mi" } } }));
    await here.until("it has ended", async () => (await appOf(here))?.state.terminated);
    const end = { exitCode: 137, reason: "OOMKilled" };
    expect((await appOf(here))?.state.terminated).toMatchObject(end);
    const log = await here.logs("pod", "app");
    if (log.includes("whole container true")) return; // ebb was killed, too
    expect(log).toContain('"signal":"SIGKILL","exitCode":137');
    await here.until("the sidecar is quit", async () => exitCodeOf(await here.pod("pod"), "envoy") === 0);
  });

  test.concurrent("activeDeadlineSeconds: the command gets SIGTERM, and its end is the container's", async () => {
    await using here = await namespace();
    const app = { name: "app", image: images.appInEbb, args: ["run", "--", "/child", "record"] };
    await start(here, app);
    await here.until("it runs", async () => (await here.logs("pod", "app")).includes("ready\n"));
    const log = here.kubectl("logs", "--follow", "pod", "-c", "app");
    await here.kubectl("patch", "pod", "pod", "-p", '{"spec":{"activeDeadlineSeconds":1}}');
    await here.until("it has ended", async () => exitCodeOf(await here.pod("pod"), "app") !== undefined);
    const pod = await here.pod("pod");
    expect(pod.status).toMatchObject({ phase: "Failed", reason: "DeadlineExceeded" });
    expect(exitCodeOf(pod, "app")).toBe(0);
    expect(await log).toContain("ready\n");
    expect(await log).toContain("\n15\n");
  });

  test.concurrent("one that is deleted during the wait is gone at once, long before its grace period is over", async () => {
    await using here = await namespace();
    const flags = ["--sidecar", "envoy", "--admin", "http://localhost:9", "--quit-timeout", "1s"];
    const app = { name: "app", image: images.appInEbb, args: ["run", ...flags, "--", "/child", "exit", "0"] };
    await here.apply([podOf("pod", { containers: [app], terminationGracePeriodSeconds: 600 })]);
    await here.until("it waits", async () => (await here.logs("pod", "app")).includes("waiting until ready"));
    const log = here.kubectl("logs", "--follow", "pod", "-c", "app");
    await here.kubectl("delete", "pod", "pod", "--timeout=200s");
    expect(await log).toContain('"exitCode":143');
    expect(await log).not.toContain('"ebb: started the command"');
  });
});

async function appOf(here: Namespace) {
  return statusOf(await here.pod("pod"), "app");
}
