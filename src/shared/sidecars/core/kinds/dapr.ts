import {
  type Adjustment,
  type Annotations,
  adminOn,
  type OwnPod,
  type SidecarKind,
  saysYes,
  secondsIn,
} from "./kind.ts";

/**
 * daprd (pkg/api/http/{shutdown,healthz,middlewares}.go). Readiness is that of outbound traffic: /v1.0/healthz waits
 * until the app listens on its port (pkg/runtime/runtime.go, blockUntilAppIsReady), and the app would wait for that.
 * All containers of the pod have the variable (pkg/injector/patcher/sidecar_patcher.go), so daprd need not be detected
 * by ports. The default grace of 5 s is from pkg/runtime/config.go; a block before the shutdown
 * (dapr.io/block-shutdown-duration) holds up signals, not quits (pkg/runtime/runtime.go). The header
 * dapr-force-shutdown (1.17.7) ends daprd with 1, which fails a Job: ebb sends it only if the user gives it as
 * --header.
 */
export const dapr = {
  role: "helper",
  admin: "http://localhost:3500",
  drainPath: undefined,
  ready: "http://localhost:3500/v1.0/healthz/outbound",
  readyPath: "/v1.0/healthz/outbound",
  quit: "http://localhost:3500/v1.0/shutdown",
  quitPath: "/v1.0/shutdown",
  ports: [],
  variable: "DAPR_HTTP_PORT",
  annotation: "dapr.io/enabled",
  annotationIsWish: true,
  isNative: (annotations) => saysYes(annotations.get("dapr.io/enable-native-sidecar")),
  adjust,
  refusals: () => ({
    401: "daprd requires its API token: set DAPR_API_TOKEN here from the secret that dapr.io/api-token-secret names, or use --header 'dapr-api-token: ...'",
    404: "daprd has no such path here: it accepts only POST, the call must be allowed (spec.api.allowed in the Dapr Configuration: shutdown, v1.0, http), and if its HTTP port is another one, set --admin",
  }),
  exitsWhen: "when its graceful shutdown is over (dapr.io/graceful-shutdown-seconds, 5 by default; 0: without a limit)",
  closesFirst: true,
  // dapr: pkg/injector (the container is daprd)
  containers: () => ({ name: /^daprd$/, image: /^daprd$/ }),
  programs: ["daprd"],
  annotationPrefixes: ["dapr.io/"],
  variablePrefixes: ["DAPR_"],
  reaping: () => ({
    seconds: graceSeconds,
    // its port, and its token, which may come from a Secret: so the reaper need not read that
    variables: ["DAPR_HTTP_PORT", "DAPR_API_TOKEN"],
  }),
} as const satisfies SidecarKind;

/** What ebb knows of this sidecar, and how it is known; `readFacts` parses it. */
export const facts = `
admin | ran daprd 1.14.0 and 1.18.2, test/sidecars/dapr
ready | ran daprd 1.14.0 and 1.18.2, test/sidecars/dapr
quit | ran daprd 1.14.0 and 1.18.2, test/sidecars/dapr | 204, and it ends with 0; the header \`dapr-force-shutdown: true\` (1.17.7 and later) ends it at once with 1, which fails a Job: ebb sends it only as --header
exitsWhen | ran daprd 1.14.0 and 1.18.2, test/sidecars/dapr | its port closes at once; with a request under way it ends with 1 when the grace period is over; dapr.io/block-shutdown-duration delays signals, not this
stop | ran daprd 1.14.0 and 1.18.2, test/sidecars/dapr | its API closes at once; dapr.io/block-shutdown-duration is a time before that, which ends early if the app reports that it is unhealthy, and first stops the app's subscriptions and input bindings (read: dapr v1.18.2 pkg/runtime/runtime.go:521-552); its injector sets no hook (read: pkg/injector/patcher/sidecar_container.go:294-325)
refusals | ran daprd 1.14.0 and 1.18.2, test/sidecars/dapr | another method than POST is 404 too
found | read dapr v1.18.3 pkg/injector/patcher/sidecar_patcher.go:137-183
native | read dapr v1.18.3 pkg/injector/service/pod_patch.go:83-122 | \`dapr.io/enable-native-sidecar\` shows it; nothing shows a Helm value
moved | ran daprd 1.14.0 and 1.18.2, test/sidecars/dapr | \`DAPR_HTTP_PORT\`; \`dapr.io/unix-domain-socket-path\` puts its API on a unix socket
container | read dapr v1.18.3 pkg/injector/consts/consts.go:24, pkg/injector/patcher/sidecar_container.go:62
reaper | read dapr v1.18.3 pkg/runtime/config.go:475
`;

/**
 * Returns where the pod puts daprd's API, on a port or a unix socket (pkg/api/http/server.go), and the header with its
 * token. The token is sent to daprd alone, and never logged.
 */
function adjust({ env, annotations }: OwnPod): Adjustment {
  const token = env.DAPR_API_TOKEN ?? "";
  const isHeader = token !== "" && !/[\r\n\0]/.test(token);
  return {
    ...(adminSocket({ env, annotations }) ?? adminOn(env.DAPR_HTTP_PORT)),
    ...(isHeader ? { quitHeaders: [["dapr-api-token", token]] } : {}),
  };
}

/**
 * Returns daprd's unix socket as the admin interface, or undefined if the pod has no such annotation. If no annotation
 * names the app's id, it is the pod's name (pkg/injector/patcher/sidecar_container.go).
 */
function adminSocket({ env, annotations }: OwnPod): Adjustment | undefined {
  const folder = annotations.get("dapr.io/unix-domain-socket-path");
  const id = annotations.get("dapr.io/app-id") ?? env.HOSTNAME;
  if (folder?.startsWith("/") !== true || id === undefined) return undefined;
  return { admin: `unix:${folder}/dapr-${id}-http.socket` };
}

/**
 * Returns the grace in seconds, after up to 30 s in which subscriptions drain (v1.17.7). 0 means no limit: an hour
 * then.
 */
function graceSeconds(annotations: Annotations): number {
  const seconds = secondsIn(annotations, "dapr.io/graceful-shutdown-seconds", 5);
  return seconds === 0 ? 3600 : 30 + seconds;
}
