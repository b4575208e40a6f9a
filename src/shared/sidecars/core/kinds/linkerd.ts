import { parseDuration } from "../../../core/duration.ts";
import { parseObject } from "../../../core/json.ts";
import { type Adjustment, type Annotations, adminOn, type OwnPod, type SidecarKind } from "./kind.ts";

const GRACE_SECONDS = 120;

/**
 * linkerd2-proxy (linkerd/app/admin/src/server.rs). The shutdown endpoint is off by default since edge-24.6.2. After a
 * shutdown the proxy drains for up to LINKERD2_PROXY_SHUTDOWN_GRACE_PERIOD (linkerd/app/src/env.rs). Its admin port is
 * drained too, so it accepts no connection from the shutdown on (linkerd/app/admin/src/stack.rs). A native sidecar
 * without an annotation, which 2.20 makes by default, is restarted after a quit; that does not hold up a pod whose app
 * has ended.
 */
export const linkerd = {
  role: "proxy",
  admin: "http://localhost:4191",
  drainPath: undefined,
  ready: "http://localhost:4191/ready",
  readyPath: "/ready",
  quit: "http://localhost:4191/shutdown",
  quitPath: "/shutdown",
  identity: { path: "/env.json?_pod_name&_pod_ns", isShownBy },
  ports: [4191],
  annotation: "linkerd.io/proxy-version",
  isNative,
  adjust,
  refusals: () => ({
    403: "linkerd-proxy accepts shutdown requests only from the pod's own loopback, and only if its inbound policy allows them; use http://localhost:4191/shutdown",
    404: "its shutdown endpoint is off: set proxy.enableShutdownEndpoint=true in Linkerd's Helm values, or annotate the pod with config.linkerd.io/proxy-admin-shutdown: enabled",
    405: "linkerd-proxy accepts only POST; use --quit 'POST http://localhost:4191/shutdown'",
  }),
  exitsWhen: exitsWhenOf(`${GRACE_SECONDS}s by default`),
  closesFirst: true,
  // linkerd2 pkg/k8s/labels.go (ProxyContainerName)
  containers: () => ({ name: /^linkerd-proxy$/ }),
  inManifest: ({ env }) => ({ quitIsOn: env.get(ENABLED) === "true" }),
  quitIsOff,
  programs: ["linkerd2-proxy", "linkerd-proxy"],
  annotationPrefixes: ["linkerd.io/", "config.linkerd.io/", "config.beta.linkerd.io/", "config.alpha.linkerd.io/"],
  reaping: () => ({ seconds: (annotations) => (graceMs(annotations) ?? GRACE_SECONDS * 1000) / 1000 }),
} as const satisfies SidecarKind;

const ENABLED = "LINKERD2_PROXY_SHUTDOWN_ENDPOINT_ENABLED";

/**
 * Says how to have the shutdown endpoint, which is off by default, in a pod that has or wants the proxy, and does not say.
 */
function quitIsOff(annotations: Annotations, isShown: boolean): string | undefined {
  const shutdown = annotations.get("config.linkerd.io/proxy-admin-shutdown");
  const isHere = annotations.has("linkerd.io/proxy-version") || wishes.has(annotations.get("linkerd.io/inject"));
  if (shutdown === "enabled") return undefined;
  if (shutdown !== "disabled" && !isHere)
    return isShown ? `set ${ENABLED}=true in its container: linkerd-proxy accepts no shutdown request` : undefined;
  const by = shutdown === "disabled" ? "" : " by default";
  return `linkerd-proxy accepts no shutdown request${by}: set config.linkerd.io/proxy-admin-shutdown: enabled (other ways: ebb help sidecars)`;
}

/** The values by which a pod asks for the proxy (linkerd2 version-2.20 pkg/k8s/labels.go, read). */
const wishes: ReadonlySet<string | undefined> = new Set(["enabled", "ingress"]);

/** Reports whether this is the proxy's own environment, with the variables that its injector sets. */
function isShownBy(body: string): boolean {
  const environment = parseObject(body);
  return environment !== undefined && "_pod_name" in environment && "_pod_ns" in environment;
}

/** What ebb knows of this sidecar, and how it is known; `readFacts` parses it. */
export const facts = `
admin | read linkerd2 version-2.20 charts/partials/templates/_proxy.tpl:112
ready | read linkerd2-proxy release/v2.366.0 linkerd/app/admin/src/server.rs:72-85 | after its first 200 it never answers 503 again
quit | read linkerd2-proxy release/v2.366.0 linkerd/app/admin/src/server.rs:272-282
exitsWhen | read linkerd2-proxy release/v2.366.0 linkerd/app/admin/src/stack.rs:203, linkerd/app/src/env.rs:314 | the admin port closes when the drain begins; the exit code is 0
stop | read linkerd2-proxy release/v2.366.0 linkerd2-proxy/src/main.rs:116-129, linkerd/app/core/src/serve.rs:92-100; linkerd2 version-2.20 charts/partials/templates/_proxy.tpl:299-315 | it accepts no new connection, and ends as after a shutdown; config.alpha.linkerd.io/proxy-wait-before-exit-seconds is a fixed time before that, which a native one ignores
refusals | read linkerd2-proxy release/v2.366.0 linkerd/app/admin/src/server.rs:272-282; linkerd2 version-2.20 pkg/k8s/labels.go:212
found | read linkerd2 version-2.20 pkg/inject/inject.go:1286-1293
identity | read linkerd2-proxy 29637b64f linkerd/app/admin/src/server.rs:270; linkerd2 b24cd4059 charts/partials/templates/_proxy.tpl:7-28 | it has the name and the namespace of its pod; versions before 2.12 have no such path, and an open port is not enough
native | read linkerd2 version-2.20 pkg/inject/inject.go:429-445 | \`config.linkerd.io/proxy-enable-native-sidecar\`, beta or alpha; 2.20 makes native ones by default, without an annotation: one that is shut down is then restarted
moved | read linkerd2 version-2.20 pkg/k8s/labels.go:170, pkg/inject/inject.go:300-305 and 403-410 | \`config.linkerd.io/admin-port\` and \`config.linkerd.io/shutdown-grace-period\`
container | read linkerd2 version-2.20 pkg/k8s/labels.go:365; linkerd2-proxy Dockerfile.proxy:84
reaper | read linkerd2-proxy release/v2.366.0 linkerd/app/src/env.rs:314
`;

/**
 * Reports whether annotations make it a native sidecar: the first of these names counts that has a value which Go's
 * strconv.ParseBool takes (linkerd2 pkg/inject/inject.go).
 */
function isNative(annotations: Annotations): boolean {
  for (const stage of ["", "beta.", "alpha."]) {
    const value = annotations.get(`config.${stage}linkerd.io/proxy-enable-native-sidecar`);
    if (value !== undefined && /^(1|t|true|0|f|false)$/i.test(value)) return /^[1t]/i.test(value);
  }
  return false;
}

function adjust({ annotations }: OwnPod): Adjustment | undefined {
  const port = annotations.get("config.linkerd.io/admin-port");
  const grace = graceMs(annotations) === undefined ? undefined : annotations.get(GRACE);
  if (port === undefined && grace === undefined) return undefined;
  return {
    ...adminOn(port),
    ...(grace === undefined ? {} : { exitsWhen: exitsWhenOf(grace) }),
  };
}

const GRACE = "config.linkerd.io/shutdown-grace-period";

function graceMs(annotations: Annotations): number | undefined {
  const text = annotations.get(GRACE);
  return text === undefined ? undefined : parseDuration(text);
}

function exitsWhenOf(grace: string): string {
  return `when its connections have ended, at the latest after its shutdown grace period (${grace})`;
}
