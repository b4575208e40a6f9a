import { inboundDrain } from "../inbound.ts";
import { adminOn, type SidecarKind } from "./kind.ts";

/**
 * kuma-dp and Envoy. Readiness is kuma-dp's since 2.14 (app/kuma-dp/pkg/dataplane/readiness/component.go), Envoy's own
 * before. Since 2.14 the admin interface is a unix socket of mode 0600 in kuma-dp's work folder (UPGRADE.md, "Envoy
 * admin API now uses Unix domain socket by default"; pkg/core/xds/sockets.go, pkg/xds/bootstrap/template_v3.go,
 * app/kuma-dp/cmd/run.go): an app container reaches it if it shares that folder and runs as kuma-dp's user. With such a
 * socket, later versions answer reads of that interface at the readiness port (readiness/component.go at 08f57ee,
 * adminProxy). From Kubernetes 1.29 on it is a native sidecar, although no annotation says so
 * (pkg/plugins/runtime/k8s/plugin.go): a quit is then followed by a restart.
 */
export const kuma = {
  role: "proxy",
  admin: "http://localhost:9901",
  adminSocket: "/tmp/kuma-dp-*/kuma-envoy-admin.sock",
  drainPath: inboundDrain,
  // kuma pkg/xds/envoy/names (`localhost:8080`), pkg/xds/generator/metadata (`inbound:passthrough:ipv4`), and from 2.15 on
  // pkg/core/naming/contextual.go. Traffic that comes in at 15006 is counted at the listener of its original port.
  inbound: {
    clusters: "localhost:\\d+$|inbound:passthrough:|self_inbound_|self_transparentproxy_passthrough_inbound_",
    ports: [15006],
  },
  ready: "http://localhost:9902/ready",
  // kuma-dp answers so by itself, before its Envoy has any configuration, if the admin interface is on TCP
  notReady: "READY",
  orReady: ["http://localhost:9901/ready"],
  readyPath: "/ready",
  quit: "http://localhost:9901/quitquitquit",
  quitPath: "/quitquitquit",
  isNode: ({ metadata }) => "dataplane.proxyType" in metadata,
  ports: [9902],
  annotation: "kuma.io/sidecar-injected",
  isNative: () => false,
  adjust: ({ annotations }) => adminOn(annotations.get("kuma.io/envoy-admin-port")),
  refusals: () => ({
    403: "Envoy's admin interface does not allow this path (admin.allow_paths); allow /quitquitquit",
    404: "no such path: is this Envoy's admin interface? If it is elsewhere, set --admin to its URL",
    405: "Envoy accepts only POST; use --quit 'POST http://localhost:9901/quitquitquit'",
  }),
  unreachable: () =>
    "Kuma's admin interface is on a unix socket that this container cannot reach: set experimental.envoyAdminUnixSocket=false in Kuma's Helm values (others: ebb help sidecars)",
  // kuma pkg/plugins/runtime/k8s/util (KumaSidecarContainerName)
  containers: () => ({ name: /^kuma-sidecar$/, image: /^kuma-dp$/ }),
  programs: ["kuma-dp", "envoy", "coredns"],
  annotationPrefixes: ["kuma.io/"],
} as const satisfies SidecarKind;

/** What ebb knows of this sidecar, and how it is known; `readFacts` parses it. */
export const facts = `
admin | ran Envoy 1.40.0 with Kuma 2.14.3's bootstrap, test/sidecars/kuma | or a unix socket of mode 0600, which belongs to kuma-dp's user; TCP before 2.14 and with envoyAdminUnixSocket=false (read: kuma 2.14.3 pkg/xds/bootstrap/template_v3.go:237, app/kuma-dp/cmd/run.go:169-180)
ready | read kuma 2.14.3 app/kuma-dp/pkg/dataplane/readiness/component.go:134-212 | an answer that is just \`READY\` comes from kuma-dp, before its Envoy has any configuration
quit | ran Envoy 1.40.0 with Kuma 2.14.3's bootstrap, test/sidecars/kuma | Envoy ends with 0; kuma-dp ends with it (read: kuma 2.14.3 app/kuma-dp/cmd/run.go:268-274)
refusals | ran Envoy 1.40.0 with Kuma 2.14.3's bootstrap, test/sidecars/kuma
drain | ran Envoy 1.40.0 with Kuma 2.14.3's bootstrap, test/sidecars/kuma
count | ran Envoy 1.40.0 with Kuma 2.14.3's bootstrap, test/sidecars/kuma
found | read kuma 2.14.3 pkg/plugins/runtime/k8s/webhooks/injector/testdata/inject.01.golden.yaml:4-34
identity | read kuma 2.14.3 pkg/xds/bootstrap/template_v3.go:86 | \`dataplane.proxyType\` in its node's metadata
native | read kuma 2.14.3 pkg/plugins/runtime/k8s/plugin.go:394 | no annotation shows it; from Kubernetes 1.29 on it is native, and is restarted after a shutdown
moved | read kuma 2.14.3 pkg/plugins/runtime/k8s/metadata/annotations.go:134 | \`kuma.io/envoy-admin-port\`, for TCP
container | read kuma 2.14.3 pkg/plugins/runtime/k8s/util/names.go:4
`;
