import { configurationOf, type ListenerPlan } from "../envoy/bootstrap.ts";
import { images } from "./cluster.ts";
import { type Container, configMapOf, type KubeObject } from "./objects.ts";

/** A plan of a real Envoy as a sidecar. */
interface EnvoyPlan {
  /** The name of the container, its ConfigMap and its volume; by default `envoy`, or Istio's. */
  readonly name?: string;
  /** The listeners; by default one, for HTTP on port 8080 of every address, from outside the pod to the upstream. */
  readonly listeners?: readonly ListenerPlan[];
  /** The app's port, on the pod's loopback. */
  readonly upstreamPort: number;
  /** Whether it is a native sidecar: an init container with restartPolicy Always. */
  readonly isNative?: boolean;
  /** Whether its name, ports and flags are those of Istio's. The pod also needs the annotations `istioStatus`. */
  readonly isLikeIstio?: boolean;
  /** The port of its admin interface; by default 9901, or Istio's. */
  readonly adminPort?: number;
  /** More fields of the container: lifecycle, resources ... */
  readonly more?: Readonly<Record<string, unknown>>;
}

interface EnvoySidecar {
  /** To be applied before the pod. */
  readonly configMap: KubeObject;
  /** For the pod's `volumes`. */
  readonly volume: object;
  /** For the pod's `containers` or, if it is native, its `initContainers`. */
  readonly container: Container;
}

/** The port of the admin interface of an Envoy that is not like Istio's. */
export const envoyAdminPort = 9901;

/**
 * Istio's admin interface, readiness, drain time and strategy: istio pkg/bootstrap/config.go, pilot/cmd/pilot-agent.
 */
const istio = { name: "istio-proxy", adminPort: 15000, readyPort: 15021, readyPath: "/healthz/ready" };
const istioFlags = ["--drain-time-s", "45", "--drain-strategy", "immediate"];

/** Returns the annotations that Istio's injector writes into a pod (istio pkg/kube/inject, SidecarInjectionStatus). */
export function istioStatus({ isNative }: { readonly isNative: boolean }): Readonly<Record<string, string>> {
  const [initContainers, containers] = isNative ? [[istio.name], null] : [null, [istio.name]];
  return { "sidecar.istio.io/status": JSON.stringify({ initContainers, containers }) };
}

/** The volume and the mount for a pod's annotations as files, at the path where ebb looks for them. */
export const podInfo = {
  volume: {
    name: "podinfo",
    downwardAPI: { items: [{ path: "annotations", fieldRef: { fieldPath: "metadata.annotations" } }] },
  },
  mount: { name: "podinfo", mountPath: "/etc/podinfo", readOnly: true },
};

/** The port of the default listener. */
export const envoyPort = 8080;

/** The default listener: it sends to the upstream what comes from outside the pod. */
export const inbound = { name: "inbound", host: "0.0.0.0", port: envoyPort, direction: "INBOUND" } as const;

/**
 * Patience of probes: a machine that stalls for some seconds must not cost a container, or its pod's place in a
 * Service.
 */
export const patience = { timeoutSeconds: 10, failureThreshold: 30 };

/** Flags of `ebb run`: as much patience for a sidecar that is found by its port. */
export const patientLook = ["--detect-timeout", "2m"];

const health: ListenerPlan = {
  name: "health",
  host: "0.0.0.0",
  port: istio.readyPort,
  asksAdmin: { path: istio.readyPath, adminPath: "/ready" },
};

/**
 * Returns a real Envoy as a sidecar. Its admin interface is at port 9901 (15000 if it is like Istio's) of every
 * address, so that the kubelet can ask it too.
 */
export function envoySidecar(plan: EnvoyPlan): EnvoySidecar {
  const { upstreamPort, isNative = false, isLikeIstio = false, more = {} } = plan;
  const { name = isLikeIstio ? istio.name : "envoy", listeners = [inbound] } = plan;
  const admin = { host: "0.0.0.0", port: plan.adminPort ?? (isLikeIstio ? istio.adminPort : envoyAdminPort) };
  const all = isLikeIstio ? [...listeners, health] : listeners;
  const { bootstrap: config } = configurationOf({ admin, listeners: all, upstreamPort });
  const ready = { httpGet: { path: "/ready", port: admin.port }, periodSeconds: 1, ...patience };
  const flags = ["--concurrency", "1", "--disable-hot-restart", "--log-level", "warning"];
  return {
    configMap: configMapOf(name, { "envoy.json": JSON.stringify(config, null, 2) }),
    volume: { name, configMap: { name } },
    container: {
      name,
      image: images.envoy,
      args: ["--config-path", "/etc/envoy/envoy.json", ...flags, ...(isLikeIstio ? istioFlags : [])],
      volumeMounts: [{ name, mountPath: "/etc/envoy", readOnly: true }],
      ...(isNative ? { restartPolicy: "Always", startupProbe: ready } : { readinessProbe: ready }),
      ...more,
    },
  };
}
