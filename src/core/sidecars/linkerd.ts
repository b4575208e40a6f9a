import type { SidecarKind } from "./kind.ts";

/**
 * linkerd2-proxy: linkerd/app/admin/src/server.rs. The shutdown endpoint is off by default since edge-24.6.2.
 * It drains for up to LINKERD2_PROXY_SHUTDOWN_GRACE_PERIOD: linkerd/app/src/env.rs.
 */
export const linkerd = {
  isCompanion: false,
  admin: "http://localhost:4191",
  drainPath: undefined,
  ready: "http://localhost:4191/ready",
  readyPath: "/ready",
  quit: "http://localhost:4191/shutdown",
  quitPath: "/shutdown",
  ports: [4191],
  annotation: "linkerd.io/proxy-version",
  isNative: (annotations) =>
    annotations.get("config.linkerd.io/proxy-enable-native-sidecar") === "true" ||
    annotations.get("config.beta.linkerd.io/proxy-enable-native-sidecar") === "true",
  refusals: () => ({
    403: "linkerd-proxy takes shutdowns from the pod's own loopback only; use http://localhost:4191/shutdown",
    404: 'its shutdown endpoint is off: set proxy.enableShutdownEndpoint=true in Linkerd\'s Helm values, or annotate the pod with config.linkerd.io/proxy-enable-shutdown-endpoint: "true"',
    405: "linkerd-proxy takes POST only; use --quit 'POST http://localhost:4191/shutdown'",
  }),
  leaves: "when its connections have ended, at the latest after its shutdown grace period (120s by default)",
  // linkerd2 pkg/k8s/labels.go (ProxyContainerName)
  containers: () => ({ name: /^linkerd-proxy$/ }),
  programs: ["linkerd2-proxy", "linkerd-proxy"],
  annotationPrefixes: [],
  reaping: () => ({ seconds: () => 120 }),
} as const satisfies SidecarKind;
