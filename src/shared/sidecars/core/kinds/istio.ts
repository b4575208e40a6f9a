import { parseDuration } from "../../../core/duration.ts";
import { objectOf, parseObject, textsOf } from "../../../core/json.ts";
import { inboundDrain } from "../inbound.ts";
import {
  type Adjustment,
  type Annotations,
  type EnvoyNode,
  type OwnPod,
  onPort,
  portOf,
  type SidecarKind,
} from "./kind.ts";

const ADMIN_PORT = 15000;

/**
 * pilot-agent and Envoy (istio pilot/cmd/pilot-agent/status/server.go, app/wait.go). A quit skips the drain
 * (istio#55424).
 */
export const istio = {
  role: "proxy",
  admin: "http://localhost:15000",
  drainPath: inboundDrain,
  // istio pilot/pkg/model/service.go (BuildInboundSubsetKey), networking/util (InboundPassthroughCluster); pkg/config/mesh
  // (ProxyInboundListenPort), pilot/pkg/model/listener.go (HBoneInboundListenPort)
  inbound: { clusters: "inbound\\||InboundPassthroughCluster$", ports: [15006, 15008] },
  ready: "http://localhost:15021/healthz/ready",
  // istio pilot/cmd/pilot-agent/status/ready/probe.go (atleastOnceReady)
  staysReady: true,
  readyPath: "/ready",
  quit: "http://localhost:15020/quitquitquit",
  quitPath: undefined,
  adminQuitPath: "/quitquitquit",
  alwaysOpen: "quit",
  isNode,
  annotationsOfNode,
  ports: [15021, 15020, 15000],
  userVariables: ["ISTIO_QUIT_API"],
  annotation: "sidecar.istio.io/status",
  isNative,
  injected: (annotations) => injectionStatus(annotations).containers,
  adjust,
  refusals: () => ({
    403: "pilot-agent accepts shutdown requests only from the pod's own loopback; use http://localhost:15020/quitquitquit",
    404: "no such path: pilot-agent has /quitquitquit since Istio 1.3; is this pilot-agent's status port (15020)?",
    405: "pilot-agent accepts only POST; use --quit 'POST http://localhost:15020/quitquitquit'",
  }),
  unreachable: () =>
    "pilot-agent's status port is closed: set --quit to its URL on the port that status.sidecar.istio.io/port names (others: ebb help sidecars)",
  // istio pkg/envoy/agent.go (DrainNow); leavePath: since 1.21, pilot/cmd/pilot-agent/status/server.go (handleDrain)
  agent: { name: "pilot-agent", port: 15020, leavePath: "/drain" },
  // istio pkg/kube/inject/inject.go (ProxyContainerName); its image is istio/proxyv2
  containers: () => ({ name: /^istio-proxy$/, image: /^proxyv2$/ }),
  programs: ["pilot-agent", "envoy"],
  annotationPrefixes: ["sidecar.istio.io/", "status.sidecar.istio.io/"],
  // pilot-agent drains for 5 s by default (terminationDrainDuration)
  needsHook: true,
  ownDrain: { setting: "terminationDrainDuration", ms: terminationDrainMs },
  reaping: () => ({
    // at Envoy's admin interface, with which pilot-agent ends (istio pkg/envoy/agent.go): as other reapers exec it
    command: () => ["pilot-agent", "request", "POST", "quitquitquit"],
  }),
} as const satisfies SidecarKind;

/** Reports whether the node ID is such as `sidecar~10.0.0.7~web-0.shop~shop.svc.cluster.local`. */
function isNode({ id }: EnvoyNode): boolean {
  const [type = "", , , domain] = id.split("~");
  return domain !== undefined && /^(sidecar|router|waypoint)$/.test(type);
}

/**
 * Returns the pod's annotations that the downward API gives to pilot-agent (istio pkg/bootstrap/config.go,
 * ExtractAnnotations).
 */
function annotationsOfNode({ metadata }: EnvoyNode): Annotations {
  const entries = Object.entries(objectOf(metadata.ANNOTATIONS));
  return new Map(entries.flatMap(([name, value]) => (typeof value === "string" ? [[name, value] as const] : [])));
}

/** Reads the duration from the pod's ProxyConfig, which is JSON or YAML (istio pkg/kube/inject/inject.go). */
function terminationDrainMs(annotations: Annotations): number | undefined {
  const config = annotations.get("proxy.istio.io/config") ?? "";
  const [, duration] = /\bterminationDrainDuration["']?: *["']?(\d[\da-z.]*)/.exec(config) ?? [];
  return duration === undefined ? undefined : parseDuration(duration);
}

/** What ebb knows of this sidecar, and how it is known; `readFacts` parses it. */
export const facts = `
admin | ran Istio 1.31.1, test/sidecars/istio
ready | ran Istio 1.31.1, test/sidecars/istio | pilot-agent asks Envoy only until it was ready once: after POST /healthcheck/fail both ports still answer 200
quit | ran Istio 1.31.1, test/sidecars/istio | Envoy is killed without a drain, and pilot-agent ends with 0
alwaysOpen | ran Istio 1.31.1, test/sidecars/istio | pilot-agent opens it before it starts Envoy (read: istio 86c9f01 pilot/cmd/pilot-agent/app/cmd.go:145-150), and closes it at SIGTERM; Envoy's admin interface and 15021 stay open until Envoy ends
refusals | ran Istio 1.31.1, test/sidecars/istio | 403 before 405; the loopback is the peer's address
drain | ran Istio 1.31.1, test/sidecars/istio | listeners keep accepting; each answer has \`connection: close\`; idle connections stay
count | ran Istio 1.31.1, test/sidecars/istio | its statistics leave out requests and connections of listeners; its inbound clusters have no host rows before their first request
found | ran Istio 1.31.1, test/cluster/istio/webhooks.test.ts
identity | read istio 86c9f01 pkg/istio-agent/agent.go:112-120, pilot/cmd/pilot-agent/app/cmd.go:272 | its node.id: \`sidecar~IP~POD.NAMESPACE~DOMAIN\`
native | ran Istio 1.31.1, test/cluster/istio/webhooks.test.ts | \`sidecar.istio.io/status\` lists istio-proxy under initContainers
moved | ran Istio 1.31.1, test/sidecars/istio | \`status.sidecar.istio.io/port\` moves the shutdown endpoint; with 0 there is none, and Envoy's own ends pilot-agent with 0
container | ran Istio 1.31.1, test/cluster/istio/webhooks.test.ts
reaper | ran Istio 1.31.1, test/cluster/istio/jobs.test.ts
`;

/**
 * Reports whether Istio's injector has added istio-proxy as a native sidecar: under initContainers, and not under
 * containers.
 */
function isNative(annotations: Annotations): boolean {
  const { containers, initContainers } = injectionStatus(annotations);
  return initContainers.includes("istio-proxy") && !containers.includes("istio-proxy");
}

/**
 * Parses the annotation `sidecar.istio.io/status`, which lists the containers that Istio's injector has added (istio
 * pkg/kube/inject/webhook.go, SidecarInjectionStatus). Older injectors write no initContainers.
 */
function injectionStatus(annotations: Annotations) {
  const { containers, initContainers } = parseObject(annotations.get("sidecar.istio.io/status") ?? "") ?? {};
  return { containers: textsOf(containers), initContainers: textsOf(initContainers) };
}

/**
 * Returns the quit on the port to which the pod moves pilot-agent's. If that is 0, pilot-agent has none (istio#18505),
 * and the quit is Envoy's own, which ends pilot-agent too.
 */
function adjust({ annotations }: OwnPod): Adjustment | undefined {
  const text = annotations.get("status.sidecar.istio.io/port");
  const port = text === "0" ? ADMIN_PORT : portOf(text);
  if (port === undefined) return undefined;
  const quits = [{ target: onPort(port, "/quitquitquit") }];
  return port === ADMIN_PORT ? { quits, alwaysOpen: false } : { quits, isNamed: true };
}
