import type { HttpTarget } from "../address.ts";
import type { Probe } from "../probe.ts";
import {
  type Adjustment,
  inboundDrain,
  onPort,
  type PodFacts,
  portOf,
  type SidecarKind,
  saysYes,
  secondsIn,
} from "./kind.ts";

const GRACEFUL_PORT = 20600;
const ADMIN_PORT = 19000;
const GRACE_SECONDS = 30;
const GRACE = "consul.hashicorp.com/sidecar-proxy-lifecycle-shutdown-grace-period-seconds";

/**
 * consul-dataplane and Envoy: pkg/consuldp/lifecycle.go answers a quit at once, and goes after its whole grace period.
 * Ports and annotations: consul-k8s, control-plane/connect-inject/{constants,lifecycle,webhook}; 20600 is always served there.
 * The readiness is Envoy's: /graceful_startup answers at once where the startup grace period is 0, the default.
 */
export const consul = {
  isCompanion: false,
  admin: "http://localhost:19000",
  drainPath: inboundDrain,
  ready: "http://localhost:19000/ready",
  readyPath: "/ready",
  quit: "http://localhost:20600/graceful_shutdown",
  quitPath: undefined,
  ports: [20600],
  annotation: "consul.hashicorp.com/connect-inject-status",
  isNative: (annotations) => saysYes(annotations.get("consul.hashicorp.com/enable-consul-dataplane-as-sidecar")),
  adjust,
  refusals: () => ({
    404: "no such path: consul-dataplane's is in the annotation consul.hashicorp.com/sidecar-proxy-lifecycle-graceful-shutdown-path; --quit says where else it is",
  }),
  leaves: `after its shutdown grace period (${GRACE_SECONDS}s by default)`,
  unreachable: () =>
    "consul-dataplane has no lifecycle endpoint here: set connectInject.sidecarProxy.lifecycle.defaultEnabled=true in Consul's Helm values (consul-k8s 1.2 or later), and name another port with the annotation consul.hashicorp.com/sidecar-proxy-lifecycle-graceful-port",
  // consul-k8s: control-plane/connect-inject/webhook/consul_dataplane_sidecar.go; one for each service of a pod with several
  containers: () => ({ name: /^consul-dataplane(-.+)?$/, image: /^consul-dataplane$/ }),
  programs: ["consul-dataplan", "envoy"],
  annotationPrefixes: ["consul.hashicorp.com/"],
  reaping: () => ({ seconds: (annotations) => secondsIn(annotations, GRACE, GRACE_SECONDS) }),
} as const satisfies SidecarKind;

/** A pod with several services has a sidecar for each, on the ports after (consul-k8s, webhook/consul_dataplane_sidecar.go). */
function adjust({ annotations }: PodFacts): Adjustment {
  const said = (name: string) => annotations.get(`consul.hashicorp.com/${name}`) || undefined;
  const path = said("sidecar-proxy-lifecycle-graceful-shutdown-path") ?? "";
  const first = portOf(said("sidecar-proxy-lifecycle-graceful-port")) ?? GRACEFUL_PORT;
  const services = said("connect-service")?.split(",").length ?? 1;
  const quits: HttpTarget[] = [];
  const ready: Probe[] = [];
  for (let index = 0; index < services; index += 1) {
    quits.push(onPort(first + index, path.startsWith("/") ? path : "/graceful_shutdown"));
    ready.push({ kind: "http", target: onPort(ADMIN_PORT + index, "/ready") });
  }
  const seconds = annotations.get(GRACE) || undefined;
  return {
    quits,
    ...(services === 1 ? {} : { ready }),
    ...(seconds === undefined ? {} : { leaves: `after its shutdown grace period (${seconds}s)` }),
  };
}
