import { images, type Namespace, namespace } from "../cluster.ts";
import { envoyPort, envoySidecar, inbound, patience } from "../envoy.ts";
import { type Container, hasCondition, type KubeObject, type PodSpec, podOf } from "../objects.ts";
import { programs } from "../programs.ts";

/** The ports of a pod's two apps, and those of the Envoy's listeners that lead to them. */
export const ports = { app: 8081, other: 8083, viaEnvoy: { app: envoyPort, other: 8082 } };
const OUT_PORT = 7000;
const outUrl = `http://127.0.0.1:${OUT_PORT}/`;

/** A namespace for the pods that stop, with the pod `outside`: programs/outside.ts. */
export async function stage(labels: Readonly<Record<string, string>> = {}): Promise<Namespace> {
  const here = await namespace(labels);
  const spec = { containers: [programs.container("outside", "outside.ts")], volumes: [programs.volume] };
  await here.apply([
    programs.configMap("outside.ts", "stopping.ts"),
    podOf("outside", spec, { labels: { "sidecar.istio.io/inject": "false" } }),
  ]);
  await here.apply([sidecarFor(await addressOfOutside(here)).configMap]);
  return here;
}

export async function addressOfOutside(here: Namespace): Promise<string> {
  return await here.until("the pod outside has an address", async () => (await here.pod("outside")).status.podIP);
}

function sidecarFor(outside: string) {
  return envoySidecar({
    upstreamPort: ports.app,
    listeners: [
      inbound,
      { ...inbound, name: "inbound-other", port: ports.viaEnvoy.other, httpPort: ports.other },
      { name: "outbound", host: "127.0.0.1", port: OUT_PORT, direction: "OUTBOUND", toHost: outside, httpPort: 8081 },
    ],
  });
}

const { volume, container: envoy } = sidecarFor("");

/** A pod of such an app, or of two, under `ebb run`, beside an ordinary Envoy that `ebb hold` keeps. */
export interface Plan {
  /** The time that each app needs after its SIGTERM, in ms. */
  readonly needsMs: readonly [number] | readonly [number, number];
  /** The flags of `ebb run`; by default it drains. */
  readonly flags?: readonly string[];
  /** Whether the apps serve; by default they do. */
  readonly serves?: boolean;
  readonly restartPolicy?: "Always" | "OnFailure" | "Never";
  /** Whether nothing of ebb is in it: `ebb inject` is to put it there. */
  readonly isBare?: boolean;
  /** More fields of the first app's container, of Envoy's, of the pod. */
  readonly app?: Readonly<Record<string, unknown>>;
  readonly envoy?: Readonly<Record<string, unknown>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

export const GRACE_SECONDS = 60;
/** Flags of `ebb run`. */
export const draining = ["--drain", "40s", "--pod-grace", `${GRACE_SECONDS}s`];
const hold = { preStop: { exec: { command: ["/ebb", "hold", "--sidecar", "envoy"] } } };

export function specOf(plan: Plan): PodSpec {
  const { restartPolicy = "Always", isBare = false, spec } = plan;
  const [first, second] = plan.needsMs.map((ms, at) => appOf(plan, ms, at));
  const held = isBare ? {} : { image: images.envoyAndEbb, lifecycle: hold };
  const proxy = { ...envoy, ...held, ...plan.envoy };
  return {
    restartPolicy,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    containers: [{ ...(first as Container), ...plan.app }, ...(second === undefined ? [] : [second]), proxy],
    volumes: [volume, programs.volume],
    ...spec,
  };
}

function appOf(plan: Plan, needsMs: number, at: number) {
  const { serves = true, flags = draining, restartPolicy = "Always", isBare = false } = plan;
  const name = at === 0 ? "app" : "other";
  const words = [outUrl, `${needsMs}`, ...(serves ? [`${ports[name]}`] : [])];
  const { command, ...container } = programs.container(name, "stopping.ts", ...words);
  const ebb = ["/ebb", "run", "--sidecar", "envoy", "--restart-policy", restartPolicy, ...flags, "--"];
  const readinessProbe = { httpGet: { path: "/health", port: ports[name] }, periodSeconds: 1, ...patience };
  return {
    ...container,
    ...(isBare ? { command } : { image: images.bunAndEbb, command: [...ebb, ...command] }),
    ...(serves ? { readinessProbe } : {}),
  };
}

/** Creates such a pod, or another object with one, and resolves with the pod's name once its apps' calls are answered. */
export async function start(here: Namespace, object: KubeObject): Promise<string> {
  await here.apply([object]);
  const { metadata, spec } =
    object.kind === "Pod" ? await here.pod(object.metadata.name) : await here.podOf(object.metadata.name);
  const apps = spec.containers.filter(({ name }) => name === "app" || name === "other");
  await here.until(`${metadata.name} is ready, and its calls are answered`, async () => {
    if (!hasCondition(await here.pod(metadata.name), "Ready")) return false;
    const logs = await Promise.all(apps.map(({ name }) => here.logs(metadata.name, name)));
    return logs.every((log) => log.includes("is answered\n"));
  });
  return metadata.name;
}
