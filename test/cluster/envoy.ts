import { bootstrap, type ListenerPlan } from "../envoy/bootstrap.ts";
import { images } from "./cluster.ts";
import { type Container, configMapOf, type KubeObject } from "./objects.ts";

export interface EnvoyPlan {
  /** Of the container, its ConfigMap and its volume. */
  readonly name?: string;
  /** Without it one: HTTP on port 8080 of every address, from outside the pod to the upstream. */
  readonly listeners?: readonly ListenerPlan[];
  /** The app's port, on the pod's loopback. */
  readonly upstreamPort: number;
  /** An init container with restartPolicy Always. */
  readonly isNative?: boolean;
  /** More of the container: lifecycle, resources ... */
  readonly more?: Readonly<Record<string, unknown>>;
}

export interface EnvoySidecar {
  /** To be applied before the pod. */
  readonly configMap: KubeObject;
  /** For the pod's `volumes`. */
  readonly volume: object;
  /** For the pod's `containers`, or its `initContainers`. */
  readonly container: Container;
}

export const envoyAdminPort = 9901;

/** The port of the listener that there is without others. */
export const envoyPort = 8080;

/** A real Envoy as a sidecar. Its admin interface is at port 9901 of every address, so that the kubelet can ask it too. */
export function envoySidecar(plan: EnvoyPlan): EnvoySidecar {
  const { name = "envoy", upstreamPort, isNative = false, more = {} } = plan;
  const inbound = { name: "inbound", host: "0.0.0.0", port: envoyPort, direction: "INBOUND" } as const;
  const listeners = plan.listeners ?? [inbound];
  const admin = { host: "0.0.0.0", port: envoyAdminPort };
  const config = bootstrap({ admin, listenerPort: 0, listeners, upstreamPort });
  const ready = { httpGet: { path: "/ready", port: envoyAdminPort }, periodSeconds: 1 };
  return {
    configMap: configMapOf(name, { "envoy.json": JSON.stringify(config, null, 2) }),
    volume: { name, configMap: { name } },
    container: {
      name,
      image: images.envoy,
      args: [
        "--config-path",
        "/etc/envoy/envoy.json",
        "--concurrency",
        "1",
        "--disable-hot-restart",
        "--log-level",
        "warning",
      ],
      volumeMounts: [{ name, mountPath: "/etc/envoy", readOnly: true }],
      ...(isNative ? { restartPolicy: "Always", startupProbe: ready } : { readinessProbe: ready }),
      ...more,
    },
  };
}
