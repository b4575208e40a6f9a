import { images, type Namespace, serviceAddress } from "../cluster.ts";
import { envoyPort, envoySidecar, patience, podInfo } from "../envoy.ts";
import { type Container, deploymentOf, type Pod, podOf, serviceOf, statusOf } from "../objects.ts";
import type { Callee, Loss, Outcome } from "../programs/mix.ts";
import { programs } from "../programs.ts";
import { watchPods } from "../watch-pods.ts";

/** A way in which the pods of a Deployment end. */
export interface Way {
  readonly name: string;
  /** Whether the sidecar, an Envoy, is a native one. */
  readonly isNative: boolean;
  /** The arguments of ebb as preStop hook of the app's container; undefined for no hook. */
  readonly appHook?: readonly string[];
  /** The arguments of ebb as preStop hook of the sidecar's container; undefined for no hook. */
  readonly envoyHook?: readonly string[];
  /** The flags of `ebb run`, under which the app runs; undefined if it runs alone. */
  readonly run?: readonly string[];
}

/** The result of a change under load. */
export interface Rollout {
  /** The number of requests. */
  readonly sent: number;
  /** The same by kind of client. */
  readonly sentBy: Readonly<Record<string, number>>;
  /** The requests that were lost. */
  readonly losses: readonly Loss[];
  /** The names of the pods that have answered. */
  readonly pods: readonly string[];
  /** When the deletion of each pod that went was seen, in ms since 1970, by its name. */
  readonly deletedAt: Readonly<Record<string, number>>;
  /** When each of them was gone. */
  readonly goneAt: Readonly<Record<string, number>>;
  /** The termination message of each of their containers `app`. */
  readonly messages: Readonly<Record<string, string>>;
  /** The seconds from the change until the last of the pods that went is gone. */
  readonly seconds: number;
  /** What the containers of these pods have written, for people. */
  readonly logs: string;
}

/** The load on ports of the Service `web`. */
type Load = Omit<Callee, "host">;

/** The ConfigMap of the programs, which the pods under load and the load's clients run. */
export const loadPrograms = programs.configMap("server.ts", "clients.ts");

const REPLICAS = 2;
const GRACE_SECONDS = 60;
const APP_PORT = 8081;
/** Of a few requests. */
const LONG_MS = 5000;
/** Longer than any pod's grace period, twice. */
const LIMIT_MS = 300_000;

/**
 * Deploys two pods that end in this way, and restarts them one by one under load, which comes through Service and
 * Envoys.
 */
export async function restartUnderLoad(here: Namespace, way: Way): Promise<Rollout> {
  await deploy(here, way);
  return await restart(here, envoyPort, LONG_MS);
}

/**
 * Restarts the pods of the Deployment `web` one by one under load, which comes through each of these ports of the Service
 * `web`. Both, and `loadPrograms`, must be there. With `longMs` some clients' requests take that long.
 */
export async function restart(here: Namespace, port: number | readonly number[], longMs?: number): Promise<Rollout> {
  const loads = [port].flat().map((one) => ({ port: one, ...(longMs === undefined ? {} : { longMs }) }));
  return await underLoad(here, loads, restartWeb);
}

/** Restarts the pods of the Deployment `web` one by one, and resolves when the new ones are there. */
export async function restartWeb(here: Namespace): Promise<void> {
  await here.kubectl("rollout", "restart", "deployment/web");
  await here.kubectl("rollout", "status", "deployment/web", "--timeout=240s");
}

/** Changes the Deployment `web` in some way under such loads, and waits until the pods that went are gone. */
export async function underLoad(
  here: Namespace,
  loads: readonly Load[],
  change: (here: Namespace) => Promise<void>,
): Promise<Rollout> {
  const started = await Promise.all(loads.map((load) => startLoad(here, load)));
  const watched = await watchPods(here, "labelSelector=app%3Dweb");
  const start = performance.now();
  await change(here);
  const { deletedAt, goneAt, last } = watched;
  const areGone = async (): Promise<boolean> => {
    const isAnyLeaving = (await here.pods("app=web")).some(({ metadata }) => metadata.deletionTimestamp !== undefined);
    return !isAnyLeaving && Object.keys(deletedAt).every((pod) => goneAt[pod] !== undefined);
  };
  await here.until("the pods that went are gone", areGone, LIMIT_MS);
  const seconds = (performance.now() - start) / 1000;
  const outcomes = await Promise.all(started.map((load) => load.end()));
  await watched.end();
  const sentBy: Record<string, number> = {};
  for (const [kind, count] of outcomes.flatMap(({ sent }) => Object.entries(sent)))
    sentBy[kind] = (sentBy[kind] ?? 0) + count;
  return {
    sent: Object.values(sentBy).reduce((sum, count) => sum + count, 0),
    sentBy,
    losses: outcomes.flatMap(({ losses }) => losses),
    pods: [...new Set(outcomes.flatMap(({ pods }) => pods))],
    deletedAt,
    goneAt,
    messages: Object.fromEntries(Object.keys(deletedAt).map((pod) => [pod, messageOf(last[pod])])),
    seconds,
    logs: Object.keys(deletedAt)
      .map((pod) => watched.logs(pod))
      .join(""),
  };
}

function messageOf(pod: Pod | undefined): string {
  const state = (pod && statusOf(pod, "app"))?.state;
  return state?.terminated?.message ?? `none: ${JSON.stringify(state)}`;
}

async function deploy(here: Namespace, way: Way): Promise<void> {
  const { isNative } = way;
  const { configMap, volume, container } = envoySidecar({ upstreamPort: APP_PORT, isNative });
  const probe = { httpGet: { path: "/", port: envoyPort }, periodSeconds: 1, ...patience }; // of the app, through Envoy
  const envoy = { ...container, image: images.envoyAndEbb, readinessProbe: probe, ...hook(way.envoyHook) };
  const spec = {
    terminationGracePeriodSeconds: GRACE_SECONDS,
    initContainers: isNative ? [envoy] : [],
    containers: [appOf(way), ...(isNative ? [] : [envoy])],
    volumes: [volume, podInfo.volume, programs.volume],
  };
  const web = deploymentOf("web", spec, {
    replicas: REPLICAS,
    strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
    annotations: isNative ? { "ebb.dev/native": "envoy" } : {},
  });
  await here.apply([configMap, loadPrograms, web, serviceOf("web", { http: envoyPort })]);
  await here.kubectl("rollout", "status", "deployment/web", "--timeout=240s");
}

function appOf({ appHook, run }: Way): Container {
  const { command, volumeMounts, ...app } = programs.container("app", "server.ts");
  const ebb = ["/ebb", "run", "--restart-policy", "Always", ...(run ?? []), "--"];
  return {
    ...app,
    image: images.bunAndEbb,
    command: run === undefined ? command : [...ebb, ...command],
    volumeMounts: [...volumeMounts, podInfo.mount],
    ...hook(appHook),
  };
}

function hook(words: readonly string[] | undefined): Readonly<Record<string, unknown>> {
  return words === undefined ? {} : { lifecycle: { preStop: { exec: { command: ["/ebb", ...words] } } } };
}

interface StartedLoad {
  /** Ends the load, and resolves with what became of it. */
  end(): Promise<Outcome>;
}

async function startLoad(here: Namespace, load: Load): Promise<StartedLoad> {
  const callee: Callee = { host: await serviceAddress(here, "web"), ...load };
  const clients = programs.container("clients", "clients.ts", JSON.stringify(callee));
  const pod = `load-${crypto.randomUUID().slice(0, 8)}`;
  // of a mesh, and of a namespace that gets ebb, where there is one
  const outside = { labels: { "sidecar.istio.io/inject": "false" }, annotations: { "ebb.dev/inject": "false" } };
  await here.apply([podOf(pod, { containers: [clients], volumes: [programs.volume] }, outside)]);
  await here.until("the load begins", async () => (await here.logs(pod, "clients")).includes("under load"));
  return {
    async end() {
      await here.signal(pod, "clients", "SIGUSR1");
      await here.until("the load ends", async () => (await here.pod(pod)).status.phase === "Succeeded");
      const lines = (await here.logs(pod, "clients")).trim().split("\n");
      await here.kubectl("delete", "pod", pod, "--wait=false");
      return JSON.parse(lines.at(-1) as string);
    },
  };
}
