import { images, type Namespace, serviceAddress } from "../cluster.ts";
import { envoyAdminPort, envoySidecar, patience, podInfo } from "../envoy.ts";
import { addEbb } from "../inject/add-ebb.ts";
import { heldProxy, injected, sidecarKind } from "../istio/istio.ts";
import { type Container, deploymentOf, jobOf, type PodSpec, podOf, serviceOf, withPod } from "../objects.ts";
import type { Callee } from "../programs/mix.ts";
import { programs } from "../programs.ts";
import { installed } from "../webhook/installed.ts";

// Pods of one app, programs/careful.ts, that end beside a proxy through which it is called, and calls.

/** What the app is: one that serves, one that only calls, or such a one in a Job. */
export type Shape = "server" | "worker" | "job";

/** A way in which a proxy outlives its app. */
export interface Way {
  readonly name: string;
  /** Its pods are Istio's, or the webhook's. */
  readonly by?: "istio" | "webhook";
  /** Whether it is only for apps that serve. */
  readonly isForServers?: true;
  /** Returns the pod. `spec` is that of the plain app, beside a plain Envoy or, in Istio's pods, alone. */
  readonly pod: (spec: PodSpec, shape: Shape) => PodSpec;
  readonly annotations?: (shape: Shape) => Readonly<Record<string, string>>;
  /** Whether `ebb inject` gets the manifest. */
  readonly isInjected?: true;
}

/** Longer than a busy machine needs to take a pod out of its Service. */
export const MIN_DRAIN_SECONDS = 15;
const GRACE_SECONDS = 60;
const limits = ["--pod-grace", `${GRACE_SECONDS}s`];
/** As long as its minimum: the app ends its streams itself. */
const drain = ["--min-drain", `${MIN_DRAIN_SECONDS}s`, "--drain", `${MIN_DRAIN_SECONDS}s`];

export const ways: readonly Way[] = [
  {
    name: "ordinary Envoy, ebb run",
    pod: (spec, shape) =>
      changed(spec, { app: underRun("envoy", shape), proxy: (it) => hooked(it, images.envoyAndEbb, ["hold"]) }),
  },
  {
    name: "ordinary Envoy, hooks",
    isForServers: true,
    pod: (spec) =>
      changed(spec, {
        app: (it) => hooked(it, images.bunAndEbb, ["drain", ...drain]),
        proxy: (it) => hooked(it, images.envoyAndEbb, ["drain", ...drain]),
      }),
  },
  { name: "ordinary Envoy, ebb inject", isInjected: true, pod: (spec) => spec, annotations: asking },
  { name: "ordinary Envoy, webhook", by: "webhook", pod: (spec) => spec, annotations: asking },
  {
    name: "ordinary Istio, annotation",
    by: "istio",
    pod: (spec, shape) => changed(spec, { app: underRun("istio", shape) }),
    annotations: () => ({
      ...sidecarKind(false),
      "proxy.istio.io/config": JSON.stringify({ terminationDrainDuration: `${GRACE_SECONDS}s` }),
    }),
  },
  {
    name: "ordinary Istio, hook",
    by: "istio",
    pod: (spec, shape) => {
      const { containers, ...more } = changed(spec, { app: underRun("istio", shape) });
      return {
        ...more,
        initContainers: [installed.container],
        containers: [...containers, heldProxy],
        volumes: [...(more.volumes ?? []), installed.volume],
      };
    },
    annotations: () => sidecarKind(false),
  },
  {
    name: "native Envoy",
    pod: (spec, shape) => {
      const { containers, ...more } = changed(spec, { app: underRun("envoy", shape, [podInfo.mount]) });
      const [app, envoy] = containers as [Container, Container];
      const startupProbe = { httpGet: { path: "/ready", port: envoyAdminPort }, periodSeconds: 1, ...patience };
      return {
        ...more,
        initContainers: [{ ...envoy, restartPolicy: "Always", startupProbe }],
        containers: [app],
        volumes: [...(more.volumes ?? []), podInfo.volume],
      };
    },
    annotations: () => ({ "ebb.dev/native": "envoy" }),
  },
];

function asking(shape: Shape): Readonly<Record<string, string>> {
  const seconds = shape === "server" ? `${MIN_DRAIN_SECONDS}s` : "0";
  const times =
    shape === "server" ? { "ebb.dev/min-drain": seconds, "ebb.dev/drain": seconds } : { "ebb.dev/drain": "0" };
  return { "ebb.dev/inject": "true", ...times };
}

interface Changes {
  readonly app: (container: Container) => Container;
  readonly proxy?: (container: Container) => Container;
}

function changed({ containers: [app, proxy], ...spec }: PodSpec, changes: Changes): PodSpec {
  const own = proxy === undefined ? [] : [changes.proxy?.(proxy) ?? proxy];
  return { ...spec, containers: [changes.app(app as Container), ...own] };
}

function underRun(sidecar: string, shape: Shape, mounts: readonly object[] = []) {
  return ({ command = [], volumeMounts, ...app }: Container): Container => {
    const restartPolicy = shape === "job" ? "Never" : "Always";
    const own = [
      "--sidecar",
      sidecar,
      "--restart-policy",
      restartPolicy,
      ...(shape === "server" ? drain : []),
      ...limits,
    ];
    return {
      ...app,
      image: images.bunAndEbb,
      command: ["/ebb", "run", ...own, "--", ...command],
      volumeMounts: [...(volumeMounts as readonly object[]), ...mounts],
    };
  };
}

function hooked(container: Container, image: string, words: readonly string[]): Container {
  return {
    ...container,
    image,
    lifecycle: { preStop: { exec: { command: ["/ebb", ...words, "--sidecar", "envoy"] } } },
  };
}

const app = { port: 8081, grpcPort: 8082, tcpPort: 8083 };
/** The ports of Envoy that lead to the app, and those on loopback that lead out. */
const viaEnvoy = { port: 8080, grpcPort: 8090, tcpPort: 8091 };
const out = { port: 7000, grpcPort: 7001, tcpPort: 7002 };

/** Returns the ports of the Service `web`. */
export function portsOf({ by }: Way): typeof app {
  return by === "istio" ? app : viaEnvoy;
}

/** Returns the labels of the namespace. */
export function labelsOf({ by }: Way): Readonly<Record<string, string>> {
  return by === "istio" ? injected : {};
}

/**
 * Deploys what `web` names, a Deployment of two pods or a Job, with what belongs to it, and waits until its apps' calls are
 * answered. After SIGTERM the apps go on for `needsMs`.
 */
export async function deploy(here: Namespace, way: Way, { shape, needsMs }: Roll): Promise<void> {
  const outside = { labels: { app: "outside", "sidecar.istio.io/inject": "false" } };
  const server = programs.container("outside", "server.ts", "0.0.0.0", ...Object.values(app).map(String));
  await here.apply([
    programs.configMap("careful.ts", "server.ts", "clients.ts"),
    podOf("outside", { containers: [server], volumes: [programs.volume] }, outside),
    serviceOf("outside", named(app)),
  ]);
  const { configMap, object } = plain(way, { shape, needsMs }, await serviceAddress(here, "outside"));
  const made = withPod(object, (pod) => way.pod(pod, shape), way.annotations?.(shape) ?? {});
  await here.apply([configMap, serviceOf("web", named(portsOf(way)))]);
  await here.apply([way.isInjected ? await addEbb(made) : made]);
  await areAnswered(here, shape === "job" ? 1 : 2);
  if (shape !== "job") await here.kubectl("rollout", "status", "deployment/web", "--timeout=240s");
}

/** Waits until the calls of so many apps are answered. */
export async function areAnswered(here: Namespace, count: number): Promise<void> {
  await here.until("the apps' calls are answered", async () => {
    const pods = await here.pods("app=web");
    const logs = await Promise.all(pods.map(({ metadata }) => here.logs(metadata.name, "app")));
    return logs.filter((log) => log.includes("is answered\n")).length === count;
  });
}

/** What a roll is of. */
export interface Roll {
  readonly shape: Shape;
  readonly needsMs: number;
}

function named({ port, grpcPort, tcpPort }: typeof app): Readonly<Record<string, number>> {
  return { http: port, grpc: grpcPort, tcp: tcpPort };
}

/** Returns the app beside an Envoy of its own or, where Istio's is to come, alone. */
function plain({ by }: Way, { shape, needsMs }: Roll, outside: string) {
  const inward = { host: "0.0.0.0", direction: "INBOUND" } as const;
  const outward = { host: "127.0.0.1", direction: "OUTBOUND", toHost: outside } as const;
  const { configMap, volume, container } = envoySidecar({
    upstreamPort: app.port,
    listeners: [
      { ...inward, name: "in", port: viaEnvoy.port },
      { ...inward, name: "in-grpc", port: viaEnvoy.grpcPort, httpPort: app.grpcPort, isHttp2: true },
      { ...inward, name: "in-tcp", port: viaEnvoy.tcpPort, tcpPort: app.tcpPort },
      { ...outward, name: "out", port: out.port, httpPort: app.port },
      { ...outward, name: "out-grpc", port: out.grpcPort, httpPort: app.grpcPort, isHttp2: true },
      { ...outward, name: "out-tcp", port: out.tcpPort, tcpPort: app.tcpPort },
    ],
  });
  const isIstio = by === "istio";
  const callee: Callee = {
    ...(isIstio ? { host: outside, ...app } : { host: "127.0.0.1", ...out }),
    longMs: 2000,
    isFew: true,
  };
  const serves = shape === "server";
  const words = [`${needsMs}`, JSON.stringify(callee), ...(serves ? Object.values(app).map(String) : [])];
  const ready = (port: number) => ({ readinessProbe: { httpGet: { path: "/", port }, periodSeconds: 1, ...patience } });
  const careful = { ...programs.container("app", "careful.ts", ...words), ...(serves ? ready(app.port) : {}) };
  const envoy = { ...container, ...(serves ? ready(viaEnvoy.port) : {}) };
  const spec: PodSpec = {
    terminationGracePeriodSeconds: GRACE_SECONDS,
    containers: isIstio ? [careful] : [careful, envoy],
    volumes: isIstio ? [programs.volume] : [volume, programs.volume],
  };
  const strategy = { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
  const object = shape === "job" ? jobOf("web", spec) : deploymentOf("web", spec, { replicas: 2, strategy });
  return { configMap, object };
}
