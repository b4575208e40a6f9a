import { images, type Namespace } from "../cluster.ts";
import { envoyPort, envoySidecar, patience, podInfo } from "../envoy.ts";
import { type Container, deploymentOf, type KubeObject, podOf, serviceOf } from "../objects.ts";
import { programs } from "../programs.ts";

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

/** The result of a rolling restart under load. */
export interface Rollout {
  /** The number of requests. */
  readonly sent: number;
  /** The same by kind of client: `busy=700 quick=640`. */
  readonly sentBy: string;
  /** What became of each request that was lost. */
  readonly failures: readonly string[];
  /** The names of the pods that have answered. */
  readonly pods: readonly string[];
  /** The seconds from the restart until the last of the former pods is gone. */
  readonly seconds: number;
  /** What the containers of the former pods have written, for people. */
  readonly logs: string;
}

const REPLICAS = 2;
const GRACE_SECONDS = 60;
const APP_PORT = 8081;
/** Of a few requests. */
const LONG_MS = 5000;

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
 * `web`. Both, and the ConfigMap of programs, must be there. With `longMs` some clients' requests take that long.
 */
export async function restart(here: Namespace, port: number | readonly number[], longMs?: number): Promise<Rollout> {
  const loads = await Promise.all([port].flat().map((one) => startLoad(here, one, longMs)));
  const former = (await here.pods("app=web")).map(({ metadata }) => metadata.name);
  const logs = Promise.all(
    former.map((pod) => here.tryKubectl(["logs", "--follow", "--prefix", "--all-containers", pod])),
  );
  const start = performance.now();
  await here.kubectl("rollout", "restart", "deployment/web");
  await here.kubectl("rollout", "status", "deployment/web", "--timeout=240s");
  await here.until("the former pods are gone", async () => {
    const now = await here.pods("app=web");
    return !now.some(({ metadata }) => former.includes(metadata.name));
  });
  const seconds = (performance.now() - start) / 1000;
  const results = await Promise.all(loads.map((load) => load.end()));
  const counts = results.flatMap(({ sent }) => Object.entries(sent));
  return {
    sent: counts.reduce((sum, [, count]) => sum + count, 0),
    sentBy: counts.map(([kind, count]) => `${kind}=${count}`).join(" "),
    failures: results.flatMap(({ failures }) => failures),
    pods: [...new Set(results.flatMap(({ pods }) => pods))],
    seconds,
    logs: (await logs).map(({ stdout }) => stdout).join(""),
  };
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
  await here.apply([
    configMap,
    programs.configMap("server.ts", "clients.ts"),
    web,
    serviceOf("web", { http: envoyPort }),
  ]);
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

interface Load {
  /** Ends the load, and resolves with what became of it. */
  end(): Promise<Pick<Rollout, "failures" | "pods"> & { readonly sent: Readonly<Record<string, number>> }>;
}

async function startLoad(here: Namespace, port: number, longMs?: number): Promise<Load> {
  const { spec } = await here.object<KubeObject & { readonly spec: { readonly clusterIP: string } }>("service/web");
  const long = longMs === undefined ? [] : [`${longMs}`];
  const clients = programs.container("clients", "clients.ts", spec.clusterIP, `${port}`, ...long);
  const pod = `load-${port}`;
  // of a mesh, and of a namespace that gets ebb, where there is one
  const outside = { labels: { "sidecar.istio.io/inject": "false" }, annotations: { "ebb.dev/inject": "false" } };
  await here.apply([podOf(pod, { containers: [clients], volumes: [programs.volume] }, outside)]);
  await here.until("the load begins", async () => (await here.logs(pod, "clients")).includes("under load"));
  return {
    async end() {
      await here.signal(pod, "clients", "SIGUSR1");
      await here.until("the load ends", async () => (await here.pod(pod)).status.phase === "Succeeded");
      const lines = (await here.logs(pod, "clients")).trim().split("\n");
      return JSON.parse(lines.at(-1) as string);
    },
  };
}
