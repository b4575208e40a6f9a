import { inboundDrain } from "../inbound.ts";
import type { Probe } from "../probe.ts";
import {
  type Adjustment,
  type OwnPod,
  onPort,
  portOf,
  type QuitTarget,
  type SidecarKind,
  saysYes,
  secondsIn,
} from "./kind.ts";

const GRACEFUL_PORT = 20600;
const ADMIN_PORT = 19000;
const GRACE_SECONDS = 30;
const GRACE = "consul.hashicorp.com/sidecar-proxy-lifecycle-shutdown-grace-period-seconds";

/**
 * consul-dataplane and Envoy. A quit goes to Envoy: consul-dataplane ends with it, at once and with 0
 * (pkg/consuldp/proxy.go, Exited). That is right because ebb quits when it has drained, or has nothing to drain.
 * /graceful_shutdown waits its whole grace period in any case (pkg/consuldp/lifecycle.go), and is asked only if
 * the admin interface refuses connections. Ports and annotations are from consul-k8s,
 * control-plane/connect-inject/{constants,lifecycle,webhook}. Readiness is Envoy's: /graceful_startup answers 200
 * whatever Envoy says.
 */
export const consul = {
  role: "proxy",
  admin: "http://localhost:19000",
  drainPath: inboundDrain,
  // consul agent/xds (LocalAppClusterName, clusters of exposed paths); consul-k8s constants.ProxyDefaultInboundPort
  inbound: { clusters: "local_app$|exposed_cluster_\\d+$", ports: [20000] },
  ready: "http://localhost:19000/ready",
  readyPath: "/ready",
  quit: "http://localhost:19000/quitquitquit",
  quitPath: "/quitquitquit",
  isNode: ({ id, metadata }) => id.endsWith("-sidecar-proxy") && typeof metadata.partition === "string",
  ports: [20600],
  annotation: "consul.hashicorp.com/connect-inject-status",
  isNative: (annotations) => saysYes(annotations.get("consul.hashicorp.com/enable-consul-dataplane-as-sidecar")),
  adjust,
  refusals: () => ({
    404: "no such path: is this Envoy's admin interface, or consul-dataplane's /graceful_shutdown? If it is elsewhere, set --quit to its URL",
    405: "Envoy accepts only POST; use --quit 'POST http://localhost:19000/quitquitquit'",
  }),
  unreachable: () =>
    "neither Envoy's admin interface nor consul-dataplane's lifecycle server listens: set --admin to the port of -envoy-admin-bind-port (others: ebb help sidecars)",
  // consul-k8s: control-plane/connect-inject/webhook/consul_dataplane_sidecar.go; a pod has one for each of its services
  containers: () => ({ name: /^consul-dataplane(-.+)?$/, image: /^consul-dataplane$/ }),
  programs: ["consul-dataplan", "envoy", "dumb-init"],
  annotationPrefixes: ["consul.hashicorp.com/"],
  reaping: () => ({ seconds: (annotations) => secondsIn(annotations, GRACE, GRACE_SECONDS) }),
} as const satisfies SidecarKind;

/** What ebb knows of this sidecar, and how it is known; `readFacts` parses it. */
export const facts = `
admin | ran Envoy 1.40.0 with consul-dataplane's bootstrap, test/sidecars/consul
ready | ran Envoy 1.40.0 with consul-dataplane's bootstrap, test/sidecars/consul
quit | ran Envoy 1.40.0 with consul-dataplane's bootstrap, test/sidecars/consul | Envoy ends with 0, and consul-dataplane with it (read: consul-dataplane 28a963a pkg/consuldp/proxy.go:166-172, consul_dataplane.go:257-261)
exitsWhen | read consul-dataplane 28a963a pkg/consuldp/lifecycle.go:154-214 | /graceful_shutdown waits its whole grace period in any case; it is asked only if the admin interface refuses the connection
refusals | ran Envoy 1.40.0 with consul-dataplane's bootstrap, test/sidecars/consul | those of /graceful_shutdown are read: consul-dataplane 28a963a pkg/consuldp/lifecycle.go:154-214
drain | ran Envoy 1.40.0 with consul-dataplane's bootstrap, test/sidecars/consul
count | ran Envoy 1.40.0 with consul-dataplane's bootstrap, test/sidecars/consul
found | read consul-k8s a507b1d1e control-plane/connect-inject/webhook/mesh_webhook.go:446
identity | read consul-k8s a507b1d control-plane/connect-inject/controllers/endpoints/endpoints_controller.go:452-460; consul-dataplane 28a963a internal/bootstrap/bootstrap_tpl.go:181-191 | its node.id: \`POD-SERVICE-sidecar-proxy\`, and \`partition\` in its metadata
native | read consul-k8s a507b1d1e control-plane/connect-inject/lifecycle/lifecycle_configuration.go:128-139 | \`consul.hashicorp.com/enable-consul-dataplane-as-sidecar\` shows it; nothing shows a Helm default
moved | read consul-k8s a507b1d1e control-plane/connect-inject/constants/annotations_and_labels.go:123-129, webhook/consul_dataplane_sidecar.go:389-411 | one sidecar for each service of \`connect-service\`, on the ports after
container | read consul-k8s a507b1d1e control-plane/connect-inject/webhook/mesh_webhook.go:39; consul-dataplane 28a963a Dockerfile:107
reaper | read consul-dataplane 28a963a pkg/consuldp/lifecycle.go:154-214
`;

/**
 * Returns a quit and a probe for each service of the pod: each has a sidecar of its own, on consecutive ports
 * (consul-k8s, webhook/consul_dataplane_sidecar.go).
 */
function adjust({ annotations }: OwnPod): Adjustment {
  const annotation = (name: string) => annotations.get(`consul.hashicorp.com/${name}`) || undefined;
  const path = annotation("sidecar-proxy-lifecycle-graceful-shutdown-path") ?? "";
  const first = portOf(annotation("sidecar-proxy-lifecycle-graceful-port")) ?? GRACEFUL_PORT;
  const services = annotation("connect-service")?.split(",").length ?? 1;
  const exitsWhen = `after its shutdown grace period (${annotations.get(GRACE) || GRACE_SECONDS}s)`;
  const quits: QuitTarget[] = [];
  const ready: Probe[] = [];
  for (let index = 0; index < services; index += 1) {
    const graceful = onPort(first + index, path.startsWith("/") ? path : "/graceful_shutdown");
    quits.push({ target: onPort(ADMIN_PORT + index, "/quitquitquit"), fallback: { target: graceful, exitsWhen } });
    ready.push({ kind: "http", target: onPort(ADMIN_PORT + index, "/ready") });
  }
  return { quits, ...(services === 1 ? {} : { ready }) };
}
