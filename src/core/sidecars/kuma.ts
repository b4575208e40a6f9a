import { adminOn, inboundDrain, type SidecarKind } from "./kind.ts";

/**
 * kuma-dp and Envoy. Readiness: app/kuma-dp/pkg/dataplane/readiness/component.go; before that, Envoy's own (--admin). The admin
 * interface is a unix socket in kuma-dp's work folder since UPGRADE.md, "Envoy admin API now uses Unix domain socket by
 * default" (pkg/core/xds/sockets.go, app/kuma-dp/cmd/run.go), which app containers see only where they share that folder. From
 * Kubernetes 1.29 on it is a native sidecar, which no annotation tells (pkg/plugins/runtime/k8s/plugin.go): a quit is then
 * followed by a restart.
 */
export const kuma = {
  isCompanion: false,
  admin: "http://localhost:9901",
  adminSocket: "/tmp/kuma-dp-*/kuma-envoy-admin.sock",
  drainPath: inboundDrain,
  ready: "http://localhost:9902/ready",
  readyPath: "/ready",
  quit: "http://localhost:9901/quitquitquit",
  quitPath: "/quitquitquit",
  ports: [9902],
  annotation: "kuma.io/sidecar-injected",
  isNative: () => false,
  adjust: ({ annotations }) => adminOn(annotations.get("kuma.io/envoy-admin-port")),
  refusals: () => ({
    403: "Envoy's admin interface does not allow this path (admin.allow_paths); allow /quitquitquit",
    404: "no such path: is this Envoy's admin interface? --admin says where it is",
    405: "Envoy takes POST only; use --quit 'POST http://localhost:9901/quitquitquit'",
  }),
  unreachable: () =>
    "Kuma's Envoy has its admin interface on a unix socket by default: set experimental.envoyAdminUnixSocket=false in Kuma's Helm values, or mount the sidecar's /tmp here too, or use --signal-process kuma-dp with shareProcessNamespace",
  // kuma pkg/plugins/runtime/k8s/util (KumaSidecarContainerName)
  containers: () => ({ name: /^kuma-sidecar$/, image: /^kuma-dp$/ }),
  programs: ["kuma-dp", "envoy", "coredns"],
  annotationPrefixes: ["kuma.io/"],
} as const satisfies SidecarKind;
