import { type Adjustment, adminOn, type PodFacts, type SidecarKind, saysYes, secondsIn } from "./kind.ts";

/**
 * daprd: pkg/api/http/{shutdown,healthz,middlewares}.go. Readiness is outbound's: /v1.0/healthz waits until the app listens
 * on its port (pkg/runtime/runtime.go, blockUntilAppIsReady), and the app would wait for it. The variable is in all containers
 * of the pod (pkg/injector/patcher/sidecar_patcher.go), so ports need not tell. 5 s: pkg/runtime/config.go.
 */
export const dapr = {
  isCompanion: true,
  admin: "http://localhost:3500",
  drainPath: undefined,
  ready: "http://localhost:3500/v1.0/healthz/outbound",
  readyPath: "/v1.0/healthz/outbound",
  quit: "http://localhost:3500/v1.0/shutdown",
  quitPath: "/v1.0/shutdown",
  ports: [],
  variable: "DAPR_HTTP_PORT",
  annotation: "dapr.io/enabled",
  isNative: (annotations) => saysYes(annotations.get("dapr.io/enable-native-sidecar")),
  adjust,
  refusals: () => ({
    401: "daprd wants its API token: set DAPR_API_TOKEN here from the secret that dapr.io/api-token-secret names, or use --header 'dapr-api-token: ...'",
    404: "daprd has no shutdown here: allow it in the Dapr Configuration (spec.api.allowed: shutdown, v1.0, http), or say with --admin where daprd's HTTP port is",
    405: "daprd takes POST only; use --quit 'POST http://localhost:3500/v1.0/shutdown'",
  }),
  leaves:
    "when its graceful shutdown is over (dapr.io/graceful-shutdown-seconds, 5 by default, after dapr.io/block-shutdown-duration)",
  // dapr: pkg/injector (the container is daprd)
  containers: () => ({ name: /^daprd$/, image: /^daprd$/ }),
  programs: ["daprd"],
  annotationPrefixes: ["dapr.io/"],
  variablePrefixes: ["DAPR_"],
  reaping: () => ({
    seconds: (annotations) => 30 + secondsIn(annotations, "dapr.io/graceful-shutdown-seconds", 5),
    // its port, and its token, which may come from a Secret: so the reaper need not read that
    variables: ["DAPR_HTTP_PORT", "DAPR_API_TOKEN"],
  }),
} as const satisfies SidecarKind;

/** The token goes to daprd alone, and is never logged. */
function adjust({ env }: PodFacts): Adjustment {
  const token = env.DAPR_API_TOKEN ?? "";
  const isHeader = token !== "" && !/[\r\n\0]/.test(token);
  return { ...adminOn(env.DAPR_HTTP_PORT), ...(isHeader ? { headers: [["dapr-api-token", token]] } : {}) };
}
