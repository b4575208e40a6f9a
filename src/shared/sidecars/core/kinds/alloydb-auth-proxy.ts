import { shownOfGoogleProxy } from "./google-proxy.ts";
import type { SidecarKind } from "./kind.ts";

/**
 * The AlloyDB Auth Proxy. It binds its databases' ports, and then starts the admin server, which it has only with
 * --quitquitquit (alloydb-auth-proxy cmd/root.go): so a connection to either port means ready. Nothing in the app's
 * container shows it: `--sidecar` names it, or ebb's injector, which sees the container.
 */
export const alloydbAuthProxy = {
  role: "helper",
  admin: "http://localhost:9091",
  drainPath: undefined,
  ready: "tcp://localhost:9091",
  orReady: ["tcp://localhost:5432"],
  readyPath: undefined,
  quit: "http://localhost:9091/quitquitquit",
  quitPath: "/quitquitquit",
  ports: [],
  annotation: undefined,
  isNative: () => false,
  refusals: () => ({
    400: "the AlloyDB Auth Proxy accepts only GET and POST",
    404: "the AlloyDB Auth Proxy's shutdown endpoint is off: start it with --quitquitquit",
  }),
  exitsWhen: "after --min-sigterm-delay, and once its connections have ended or --max-sigterm-delay is over",
  unreachable: () =>
    "the AlloyDB Auth Proxy has a shutdown endpoint only with --quitquitquit (and --admin-port, 9091 by default)",
  containers: () => ({ name: /^alloydb-(auth-)?proxy$/, image: /^alloydb-auth-proxy$/ }),
  inManifest: (container) => shownOfGoogleProxy(container, { name: "AlloyDB Auth Proxy", prefix: "ALLOYDB_PROXY_" }),
  programs: ["alloydb-auth-proxy"],
  annotationPrefixes: [],
  variablePrefixes: ["ALLOYDB_PROXY_"],
  needsHook: true,
  reaping: () => ({
    // alloydb-auth-proxy cmd/shutdown_test.go
    command: (port) =>
      port === undefined ? undefined : ["/alloydb-auth-proxy", "shutdown", "--admin-port", String(port)],
  }),
} as const satisfies SidecarKind;

/** What ebb knows of this sidecar, and how it is known; `readFacts` parses it. */
export const facts = `
admin | ran alloydb-auth-proxy 1.17.1, test/sidecars/alloydb-auth-proxy | only with --quitquitquit
ready | ran alloydb-auth-proxy 1.17.1, test/sidecars/alloydb-auth-proxy
quit | ran alloydb-auth-proxy 1.17.1, test/sidecars/alloydb-auth-proxy | it ends with 0
exitsWhen | ran alloydb-auth-proxy 1.17.1, test/sidecars/alloydb-auth-proxy | its admin server answers through both delays
stop | ran alloydb-auth-proxy 1.17.1, test/sidecars/alloydb-auth-proxy | it ends at once, with 143, and cuts its connections; --min-sigterm-delay is a fixed time before that; with --max-sigterm-delay it accepts no new connection (read: alloydb-auth-proxy v1.17.1 internal/proxy/proxy.go:692-746)
refusals | ran alloydb-auth-proxy 1.17.1, test/sidecars/alloydb-auth-proxy
found | read alloydb-auth-proxy v1.17.1 examples/k8s-sidecar/proxy_sidecar_deployment.yaml | no variable and no annotation shows it
container | read alloydb-auth-proxy v1.17.1 examples/k8s-sidecar/proxy_sidecar_deployment.yaml; Dockerfile
reaper | read alloydb-auth-proxy v1.17.1 cmd/root.go:492
`;
