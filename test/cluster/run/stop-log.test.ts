import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { changes } from "../api.ts";
import { images, type Namespace, namespace } from "../cluster.ts";
import { envoyPort, envoySidecar, inbound, patience, podInfo } from "../envoy.ts";
import { deploymentOf, type Pod, podOf } from "../objects.ts";
import { programs } from "../programs.ts";

// The log of src/manual/pictures, stop.log, is this test's:
// EBB_WRITE_PAGES=1 npm run test:cluster -- test/cluster/run/stop-log.test.ts

const file = join(import.meta.dirname, "../../../src/manual/pictures/stop.log");

/** The lines of the steps that follow each other, in their order. */
const steps = [
  /^\[api\/pod\] \S+ \{"request":"DELETE"\}/,
  /^\[pod\/\S+\/app\] .*received a stop signal: draining/,
  /^\[pod\/\S+\/app\] .*draining the listeners/,
  /^\[pod\/\S+\/app\] .*drain ended/,
  /^\[pod\/\S+\/app\] \S+ the app got SIGTERM/,
  /^\[pod\/\S+\/app\] .*"ebb: done".*"exitCode":0/,
  /^\[pod\/\S+\/envoy\] .*letting the proxy go/,
  /^\[pod\/\S+\/envoy\] .*caught ENVOY_SIGTERM/,
  /^\[api\/pod\] .*"type":"DELETED"/,
];

/** What else the picture shows. */
const others = [/^\[api\/endpointslice\] .*"ready":false/, /^\[pod\/\S+\/balancer\] .*"ms":10000,"status":200/];

test("a deleted pod goes through the steps of the picture, in their order, and each request and call is answered", async () => {
  await using here = await namespace();
  const { name, ip } = await deploy(here, await startCalled(here));
  const balancer = programs.container("balancer", "balancer.ts", ip, `${envoyPort}`);
  await here.apply([podOf("balancer", { containers: [balancer], volumes: [programs.volume] })]);
  await here.until("requests are answered", async () => /"status":200/.test(await here.logs("balancer", "balancer")));
  await here.until("calls are answered", async () => /"status":200/.test(await here.logs(name, "app")));

  const watched = await watch(here, name, ip);
  const containers = here.kubectl("logs", "--follow", "--prefix", "--timestamps", "--all-containers", name);
  await here.signal("balancer", "balancer", "SIGUSR1");
  await here.until("a long request", async () => (await here.logs("balancer", "balancer")).includes("a long request"));
  watched.note("api/pod", { request: "DELETE" });
  await here.kubectl("delete", "pod", name, "--wait=false");
  await here.until("the pod is gone", () => watched.lines.some((line) => line.includes('"DELETED"')));
  await here.until("the load ends", async () => (await here.pod("balancer")).status.phase === "Succeeded");
  await watched.end();

  const load = await here.kubectl("logs", "--prefix", "--timestamps", "balancer");
  const lines = [...watched.lines, ...`${await containers}${load}`.trim().split("\n")].toSorted(byTime);
  if (process.env.EBB_WRITE_PAGES === "1") writeFileSync(file, `${lines.join("\n")}\n`);
  const at = (step: RegExp) => lines.findIndex((line) => step.test(line));
  const found = steps.map(at);
  expect([...found, ...others.map(at)]).not.toContain(-1);
  expect(found).toEqual(found.toSorted((a, b) => a - b));
  const ended = lines.filter((line) => /"(sent|called)"/.test(line));
  expect(ended.filter((line) => !line.includes('"status":200'))).toEqual([]);
  expect(lines.slice(found[4]).some((line) => line.includes('"called"'))).toBe(true); // after the app's SIGTERM
});

/** Starts the pod that the app calls, and resolves with its address. */
async function startCalled(here: Namespace): Promise<string> {
  const spec = { containers: [programs.container("called", "called.ts")], volumes: [programs.volume] };
  await here.apply([programs.configMap("slow.ts", "balancer.ts", "called.ts"), podOf("called", spec)]);
  return await here.until("the called pod has an address", async () => (await here.pod("called")).status.podIP);
}

/** Deploys one pod: an app under `ebb run`, beside an ordinary Envoy with `ebb hold` as its preStop hook. */
async function deploy(here: Namespace, called: string): Promise<{ readonly name: string; readonly ip: string }> {
  const outbound = { name: "outbound", host: "127.0.0.1", port: 7000, direction: "OUTBOUND", toHost: called } as const;
  const listeners = [inbound, { ...outbound, httpPort: 8081 }];
  const { configMap, volume, container } = envoySidecar({ upstreamPort: 8081, listeners });
  const probe = { httpGet: { path: "/", port: envoyPort }, periodSeconds: 1, ...patience }; // of the app, through Envoy
  const hook = { preStop: { exec: { command: ["/ebb", "hold"] } } };
  const envoy = { ...container, image: images.envoyAndEbb, readinessProbe: probe, lifecycle: hook };
  const { command, volumeMounts, ...app } = programs.container("app", "slow.ts", `http://127.0.0.1:${outbound.port}/`);
  const times = ["--drain", "20s", "--grace", "5s", "--pod-grace", "30s"];
  const run = ["/ebb", "run", "--sidecar", "envoy", "--restart-policy", "Always", ...times, "--", ...command];
  const ebb = { ...app, image: images.bunAndEbb, command: run, volumeMounts: [...volumeMounts, podInfo.mount] };
  const spec = {
    terminationGracePeriodSeconds: 30,
    containers: [ebb, envoy],
    volumes: [volume, podInfo.volume, programs.volume],
  };
  const service = { selector: { app: "web" }, ports: [{ port: envoyPort }] };
  await here.apply([
    configMap,
    deploymentOf("web", spec),
    { apiVersion: "v1", kind: "Service", metadata: { name: "web" }, spec: service },
  ]);
  await here.kubectl("rollout", "status", "deployment/web", "--timeout=240s");
  const { metadata, status } = await here.podOf("web");
  return { name: metadata.name, ip: status.podIP as string };
}

/** Notes what the API server says of a pod, and of its address in the endpoints, in lines as `kubectl logs --prefix`. */
async function watch({ name: namespace }: Namespace, name: string, ip: string) {
  const lines: string[] = [];
  const over = new AbortController();
  const note = (who: string, what: object) => {
    lines.push(`[${who}] ${new Date().toISOString()} ${JSON.stringify(what)}`);
  };
  const pods = `/api/v1/namespaces/${namespace}/pods?fieldSelector=metadata.name=${name}`;
  const slices = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=kubernetes.io/service-name=web`;
  const watches = [
    await changes<Pod>(pods, over.signal, ({ type, object: { metadata } }) =>
      note("api/pod", { type, deletionTimestamp: metadata.deletionTimestamp }),
    ),
    await changes<EndpointSlice>(slices, over.signal, ({ type, object: { endpoints } }) => {
      const own = endpoints?.find(({ addresses }) => addresses.includes(ip));
      note("api/endpointslice", { type, conditions: own?.conditions ?? "the address is not in it" });
    }),
  ];
  const end = async (): Promise<void> => {
    over.abort();
    await Promise.allSettled(watches.map(({ ended }) => ended));
  };
  return { lines, note, end };
}

interface EndpointSlice {
  readonly endpoints?: readonly { readonly addresses: readonly string[]; readonly conditions: object }[];
}

function byTime(a: string, b: string): number {
  const [timeOfA, timeOfB] = [a, b].map((line) => line.split(" ")[1] ?? "");
  return (timeOfA as string) < (timeOfB as string) ? -1 : 1;
}
