import { describe, expect, test } from "bun:test";
import { type LogLine, logOf, timeOf } from "../../harness/ebb.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoySidecar, inbound, istioStatus, podInfo } from "../envoy.ts";
import { configMapOf, type Pod, podOf, statusOf } from "../objects.ts";
import { programs } from "../programs.ts";

/** Calls what is outside the pod, through Envoy, each 20 ms; at SIGTERM for a second more. */
const caller = `
let until = Infinity;
process.on("SIGTERM", () => { console.log("TERM", Date.now()); until = performance.now() + 1000; });
for (let calls = 0; performance.now() < until; calls += 1) {
  const status = await fetch("http://127.0.0.1:9001/").then((answer) => answer.status, (error) => error.code);
  if (status !== 200 || calls === 0) console.log("outbound", status);
  await Bun.sleep(20);
}
console.log("the last call was answered");
`;
/** In this pod too, but there before Envoy and gone after it. */
const outside = `
process.on("SIGTERM", () => process.exit(0));
Bun.serve({ port: 9000, fetch: () => new Response("outside") });
`;

const {
  configMap,
  volume,
  container: envoy,
} = envoySidecar({
  isNative: true,
  isLikeIstio: true,
  upstreamPort: 8081,
  listeners: [inbound, { name: "outbound", port: 9001, direction: "OUTBOUND", httpPort: 9000 }],
});
const annotations = istioStatus({ isNative: true });

describe("a native sidecar, a real Envoy as Istio has it,", () => {
  test.concurrent("is waited for, and not quit where the command ends: it outlives the command, and is not restarted", async () => {
    await using here = await namespace();
    const app = {
      name: "app",
      image: images.appInEbb,
      args: ["run", "--", "/child", "clock", "3", "2000000"],
      volumeMounts: [podInfo.mount],
    };
    const spec = { initContainers: [envoy], containers: [app], volumes: [volume, podInfo.volume] };
    await here.apply([configMap, podOf("work", spec, { annotations })]);
    await here.until("it has ended", async () => (await here.pod("work")).status.phase === "Failed");
    const said = logOf(await here.logs("work", "app"));
    expect(said[0]).toMatchObject({ msg: "ebb: found", sidecars: ["istio"], native: true });
    const steps = said.map(({ msg }) => msg).filter((msg) => msg !== "ebb: waiting until ready"); // said where Envoy is slow
    expect(steps).toEqual(["found", "ready", "started the command", "done"].map((msg) => `ebb: ${msg}`));
    const pod = await here.pod("work");
    expect(ends(pod)).toMatchObject({ app: { code: 3, restarts: 0 }, "istio-proxy": { code: 0, restarts: 0 } });
    expect(ends(pod)["istio-proxy"]?.at).toBeGreaterThanOrEqual(ends(pod).app?.at as number);
  });

  test.concurrent("is drained where the pod leaves, and outbound calls are answered to the command's end", async () => {
    await using here = await namespace();
    const outsider = { ...programs.container("outside", "outside.ts"), restartPolicy: "Always" };
    const flags = ["--restart-policy", "Always", "--drain", "20s", "--min-drain", "1s"];
    const started = programs.container("app", "caller.ts");
    const app = {
      ...started,
      image: images.bunAndEbb,
      command: ["/ebb", "run", ...flags, "--", ...started.command],
      volumeMounts: [...started.volumeMounts, podInfo.mount],
    };
    const spec = {
      initContainers: [outsider, envoy],
      containers: [app],
      volumes: [volume, podInfo.volume, programs.volume],
      terminationGracePeriodSeconds: 60,
    };
    const scripts = configMapOf(programs.name, { "caller.ts": caller, "outside.ts": outside });
    await here.apply([configMap, scripts, podOf("server", spec, { annotations })]);
    await here.until("it calls", async () => (await here.logs("server", "app")).includes("outbound 200"));
    const { pod, log } = await deleted(here, "server", "app");
    expect(log.match(/^outbound .*/gm)).toEqual(["outbound 200"]);
    expect(log).toContain("the last call was answered\n");
    expect(log).toMatch(/drain_listeners\?graceful&inboundonly&skip_exit.*\/healthcheck\/fail/s);
    // by their own times: between a container's stdout and stderr there is no order
    const drained = logOf(log).find(({ outcome }) => outcome === "drained") as LogLine;
    expect(timeOf(drained)).toBeLessThanOrEqual(Number(/^TERM (\d+)$/m.exec(log)?.[1]));
    expect(log).not.toContain("quitquitquit");
    expect(ends(pod)).toMatchObject({ app: { code: 0, restarts: 0 }, "istio-proxy": { code: 0, restarts: 0 } });
    expect(ends(pod)["istio-proxy"]?.at).toBeGreaterThanOrEqual(ends(pod).app?.at as number);
  });
});

interface End {
  readonly code: number | undefined;
  readonly restarts: number | undefined;
  /** In milliseconds since 1970, to the second. */
  readonly at: number;
}

function ends(pod: Pod): Readonly<Record<string, End>> {
  const all = ["app", "istio-proxy"].map((name) => {
    const status = statusOf(pod, name);
    const { exitCode, finishedAt = "" } = status?.state.terminated ?? {};
    return [name, { code: exitCode, restarts: status?.restartCount, at: Date.parse(finishedAt) }];
  });
  return Object.fromEntries(all);
}

/** Deletes a pod; what it was when all of its containers had ended, and what one of them wrote. */
async function deleted(here: Namespace, name: string, container: string): Promise<{ pod: Pod; log: string }> {
  const hold = (finalizers: readonly string[] | null) =>
    here.kubectl("patch", "pod", name, "--type=merge", "-p", JSON.stringify({ metadata: { finalizers } }));
  const log = here.kubectl("logs", "--follow", name, "-c", container);
  await hold(["ebb.dev/test"]); // so that it can be looked at
  try {
    await here.kubectl("delete", "pod", name, "--wait=false");
    const pod = await here.until("all of its containers have ended", async () => {
      const pod = await here.pod(name);
      const { containerStatuses = [], initContainerStatuses = [] } = pod.status;
      return [...containerStatuses, ...initContainerStatuses].every(({ state }) => state.terminated) && pod;
    });
    return { pod, log: await log };
  } finally {
    await hold(null);
  }
}
