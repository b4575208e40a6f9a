import { parseHttpTarget } from "../../../core/address.ts";
import type { Probe } from "../probe.ts";
import { listenersOfFirst } from "./google-listeners.ts";
import { shownOfGoogleProxy } from "./google-proxy.ts";
import type { Adjustment, OwnPod, QuitTarget, Shown, ShownContainer, SidecarKind } from "./kind.ts";

/**
 * The Cloud SQL Auth Proxy. It binds its databases' ports, and then starts the admin server, which it has only with
 * --quitquitquit (cloud-sql-proxy cmd/root.go): so a connection to any of these ports means ready. They are its
 * defaults for PostgreSQL, MySQL and SQL Server (internal/proxy/proxy.go). Its operator sets the variable
 * (cloud-sql-proxy-operator internal/workload/podspec_updates.go). Other programs use 9091 too, so it is not detected
 * by ports.
 */
export const cloudSqlProxy = {
  role: "helper",
  admin: "http://localhost:9091",
  drainPath: undefined,
  ready: "tcp://localhost:9091",
  orReady: ["tcp://localhost:5432", "tcp://localhost:3306", "tcp://localhost:1433"],
  readyPath: undefined,
  quit: "http://localhost:9091/quitquitquit",
  quitPath: "/quitquitquit",
  ports: [],
  variable: "CSQL_PROXY_QUIT_URLS",
  annotation: undefined,
  isNative: () => false,
  adjust,
  refusals: () => ({
    400: "the Cloud SQL Auth Proxy accepts only GET and POST",
    404: "the Cloud SQL Auth Proxy's shutdown endpoint is off: start it with --quitquitquit",
  }),
  exitsWhen: "after --min-sigterm-delay, and once its connections have ended or --max-sigterm-delay is over",
  unreachable: () =>
    "the Cloud SQL Auth Proxy has a shutdown endpoint only with --quitquitquit (and --admin-port, 9091 by default)",
  // cloud-sql-proxy-operator: internal/workload/names.go (ContainerPrefix)
  containers: () => ({
    name: /^cloud-?sql-proxy$/,
    image: /^(cloud-sql-proxy|gce-proxy)$/,
    shared: { name: /^csql-.+$/, image: /proxy/ },
  }),
  inManifest,
  programs: ["cloud-sql-proxy", "cloud_sql_proxy"],
  annotationPrefixes: [],
  variablePrefixes: ["CSQL_"],
  needsHook: true,
  reaping: () => ({
    // cloud-sql-proxy cmd/shutdown_test.go
    command: (port) =>
      port === undefined ? undefined : ["/cloud-sql-proxy", "shutdown", "--admin-port", String(port)],
  }),
} as const satisfies SidecarKind;

/** What ebb knows of this sidecar, and how it is known; `readFacts` parses it. */
export const facts = `
admin | ran cloud-sql-proxy 2.27.0, test/sidecars/cloud-sql-proxy | only with --quitquitquit
ready | ran cloud-sql-proxy 2.27.0, test/sidecars/cloud-sql-proxy
quit | ran cloud-sql-proxy 2.27.0, test/sidecars/cloud-sql-proxy | it ends with 0
exitsWhen | ran cloud-sql-proxy 2.27.0, test/sidecars/cloud-sql-proxy | its admin server answers through both delays
stop | ran cloud-sql-proxy 2.27.0, test/sidecars/cloud-sql-proxy | it ends at once, with 143, and cuts its connections; --min-sigterm-delay is a fixed time before that; --max-sigterm-delay ends with the last connection (read: cloud-sql-proxy v2.27.0 internal/proxy/proxy.go:787-844)
refusals | ran cloud-sql-proxy 2.27.0, test/sidecars/cloud-sql-proxy
found | read cloud-sql-proxy-operator v1.8.1 internal/workload/podspec_updates.go:411-423
native | read cloud-sql-proxy-operator v1.8.1 internal/controller/setup.go:52 | from Kubernetes 1.29 on the operator's is native, which no annotation shows: it is restarted after a shutdown
moved | read cloud-sql-proxy-operator v1.8.1 internal/workload/podspec_updates.go:411-423 | \`CSQL_PROXY_QUIT_URLS\`
container | read cloud-sql-proxy-operator v1.8.1 internal/workload/names.go; cloud-sql-proxy v2.25.3 Dockerfile | also the operator's \`csql-...\`, if its image is not known, or has \`proxy\` in its name
reaper | read cloud-sql-proxy v2.25.3 cmd/root.go:417
`;

/** Version 1, whose program is cloud_sql_proxy, has no quit (v1.29.1 cmd/cloud_sql_proxy/cloud_sql_proxy.go). */
function inManifest(container: ShownContainer): Shown {
  const isFirst =
    container.image === "gce-proxy" || container.words.some((word) => /(^|\/)cloud_sql_proxy$/.test(word));
  const problem =
    'version 1 has no shutdown endpoint: use version 2 with --quitquitquit, or ebb.dev/native: "true", or shareProcessNamespace with ebb.dev/signal-process: cloud_sql_proxy';
  return isFirst
    ? { problem, listeners: listenersOfFirst(container) }
    : shownOfGoogleProxy(container, { name: "Cloud SQL Auth Proxy", prefix: "CSQL_PROXY_" });
}

/** Adds a quit and a probe for each of the operator's proxies in this pod. */
function adjust({ env }: OwnPod): Adjustment {
  const quits: QuitTarget[] = [];
  const ready: Probe[] = [];
  for (const url of (env.CSQL_PROXY_QUIT_URLS ?? "").split(" ")) {
    const target = parseHttpTarget(url);
    if (target === undefined) continue; // empty, or reported elsewhere as a bad value of --quit
    quits.push({ target });
    ready.push({ kind: "connect", address: target.address });
  }
  return quits.length === 0 ? {} : { quits, ready, isNamed: true };
}
