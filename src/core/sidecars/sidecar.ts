import { describeTarget, type HttpTarget, parseHttpTarget } from "../address.ts";
import type { Header, HttpAnswer } from "../http-message.ts";
import type { Probe } from "../probe.ts";
import {
  type Adjustment,
  type Annotations,
  adjustCloudSql,
  adjustConsul,
  adjustDapr,
  adjustKuma,
  adjustVault,
  type PodFacts,
  saysYes,
} from "./adjust.ts";

export interface QuitRequest {
  readonly method: string;
  readonly target: HttpTarget;
  /** Asked before the sidecars' own quits, not instead of one. */
  readonly isMore?: true;
  /** Besides those that the user gives. */
  readonly headers?: readonly Header[];
}

/** A sidecar that ebb knows, as data. Ports are on the pod's loopback. */
export interface SidecarKind {
  /** Stands beside a mesh's proxy, not in its place: what tells of the one says nothing of the other. */
  readonly isCompanion: boolean;
  /** The base of its admin interface; `--admin` replaces it. */
  readonly admin: string;
  /** Where its admin interface is instead, if that socket is there; `*` stands for one part of a folder's name. */
  readonly adminSocket?: string;
  /** The path, on an Envoy's admin interface, that drains its listeners; undefined: not an Envoy. */
  readonly drainPath: string | undefined;
  /** Its own readiness endpoint; undefined: it has none, and is not waited for. */
  readonly ready: string | undefined;
  /** Where readiness is asked when `--admin` says where the admin interface is; undefined: `ready` stays. */
  readonly readyPath: string | undefined;
  readonly quit: string;
  /** Where quit is sent when `--admin` is given; undefined: `quit` stays. */
  readonly quitPath: string | undefined;
  /** Any of these listening means that it is here. */
  readonly ports: readonly number[];
  /** The variable that its injector sets in the app's container. */
  readonly variable?: string;
  /** The annotation on the pods that have it; a value that says no is none. */
  readonly annotation: string | undefined;
  /** False: the pod has the annotation, and yet no such container. */
  readonly isInjected?: (annotations: Annotations) => boolean;
  readonly isNative: (annotations: Annotations) => boolean;
  readonly adjust?: (pod: PodFacts) => Adjustment;
  /** It takes a quit, answers, and goes later: when. Undefined: it goes at once. */
  readonly leaves?: string;
  /** What a refusal means, by HTTP status, and what to change. */
  readonly refusals: () => Readonly<Record<number, string>>;
  /** What it means that nobody listens where the quit goes although the sidecar is here, and what to change; undefined: --admin. */
  readonly unreachable?: () => string;
}

/** Beside an app outbound must go on (istio#51855); skip_exit: the listeners keep accepting (Envoy, listeners_handler.cc). */
export const inboundDrain = "/drain_listeners?graceful&inboundonly&skip_exit";

export const sidecarKinds = {
  /** pilot-agent and Envoy: istio pilot/cmd/pilot-agent/status/server.go, app/wait.go. Its quit skips the drain (istio#55424). */
  istio: {
    isCompanion: false,
    admin: "http://localhost:15000",
    drainPath: inboundDrain,
    ready: "http://localhost:15021/healthz/ready",
    readyPath: "/ready",
    quit: "http://localhost:15020/quitquitquit",
    quitPath: undefined,
    ports: [15021, 15020, 15000],
    annotation: "sidecar.istio.io/status",
    isNative: isIstioNative,
    refusals: () => ({
      403: "pilot-agent takes quits from the pod's own loopback only; use http://localhost:15020/quitquitquit",
      404: "no such path: pilot-agent has /quitquitquit since Istio 1.3; is this pilot-agent's status port (15020)?",
      405: "pilot-agent takes POST only; use --quit 'POST http://localhost:15020/quitquitquit'",
    }),
    unreachable: () =>
      "pilot-agent's status port is closed: --quit says where status.sidecar.istio.io/port has moved it; where there is none (Istio 1.2 and before), use --signal-process pilot-agent with shareProcessNamespace",
  },
  /** A plain Envoy: its admin interface (envoyproxy.io, operations/admin). 9901 is the usual port. */
  envoy: {
    isCompanion: false,
    admin: "http://localhost:9901",
    drainPath: "/drain_listeners?graceful&skip_exit",
    ready: "http://localhost:9901/ready",
    readyPath: "/ready",
    quit: "http://localhost:9901/quitquitquit",
    quitPath: "/quitquitquit",
    ports: [9901],
    annotation: undefined,
    isNative: () => false,
    refusals: () => ({
      403: "Envoy's admin interface does not allow this path (admin.allow_paths); allow /quitquitquit",
      404: "no such path: is this Envoy's admin interface? --admin says where it is",
      405: "Envoy takes POST only; use --quit 'POST URL'",
    }),
  },
  /**
   * linkerd2-proxy: linkerd/app/admin/src/server.rs. The shutdown endpoint is off by default since edge-24.6.2.
   * It drains for up to LINKERD2_PROXY_SHUTDOWN_GRACE_PERIOD: linkerd/app/src/env.rs.
   */
  linkerd: {
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
  },
  /**
   * kuma-dp and Envoy. Readiness: app/kuma-dp/pkg/dataplane/readiness/component.go; before that, Envoy's own (--admin). The admin interface is a unix socket in
   * kuma-dp's work folder since UPGRADE.md, "Envoy admin API now uses Unix domain socket by default" (pkg/core/xds/sockets.go,
   * app/kuma-dp/cmd/run.go), which app containers see only where they share that folder. From Kubernetes 1.29 on it is a
   * native sidecar, which no annotation tells (pkg/plugins/runtime/k8s/plugin.go): a quit is then followed by a restart.
   */
  kuma: {
    isCompanion: false,
    admin: "http://localhost:9901",
    drainPath: inboundDrain,
    ready: "http://localhost:9902/ready",
    readyPath: "/ready",
    quit: "http://localhost:9901/quitquitquit",
    quitPath: "/quitquitquit",
    ports: [9902],
    annotation: "kuma.io/sidecar-injected",
    isNative: () => false,
    refusals: () => ({
      403: "Envoy's admin interface does not allow this path (admin.allow_paths); allow /quitquitquit",
      404: "no such path: is this Envoy's admin interface? --admin says where it is",
      405: "Envoy takes POST only; use --quit 'POST http://localhost:9901/quitquitquit'",
    }),
    adminSocket: "/tmp/kuma-dp-*/kuma-envoy-admin.sock",
    adjust: adjustKuma,
    unreachable: () =>
      "Kuma's Envoy has its admin interface on a unix socket by default: set experimental.envoyAdminUnixSocket=false in Kuma's Helm values, or mount the sidecar's /tmp here too, or use --signal-process kuma-dp with shareProcessNamespace",
  },
  /**
   * consul-dataplane and Envoy: pkg/consuldp/lifecycle.go answers a quit at once, and goes after its whole grace period.
   * Ports and annotations: consul-k8s, control-plane/connect-inject/{constants,lifecycle,webhook}; 20600 is always served there.
   * The readiness is Envoy's: /graceful_startup answers at once where the startup grace period is 0, the default.
   */
  consul: {
    isCompanion: false,
    admin: "http://localhost:19000",
    drainPath: inboundDrain,
    ready: "http://localhost:19000/ready",
    readyPath: "/ready",
    quit: "http://localhost:20600/graceful_shutdown",
    quitPath: undefined,
    ports: [20600],
    annotation: "consul.hashicorp.com/connect-inject-status",
    isNative: (annotations) => saysYes(annotations.get("consul.hashicorp.com/enable-consul-dataplane-as-sidecar")),
    refusals: () => ({
      404: "no such path: consul-dataplane's is in the annotation consul.hashicorp.com/sidecar-proxy-lifecycle-graceful-shutdown-path; --quit says where else it is",
    }),
    adjust: adjustConsul,
    leaves: "after its shutdown grace period (30s by default)",
    unreachable: () =>
      "consul-dataplane has no lifecycle endpoint here: set connectInject.sidecarProxy.lifecycle.defaultEnabled=true in Consul's Helm values (consul-k8s 1.2 or later), and name another port with the annotation consul.hashicorp.com/sidecar-proxy-lifecycle-graceful-port",
  },
  /**
   * daprd: pkg/api/http/{shutdown,healthz,middlewares}.go. Readiness is outbound's: /v1.0/healthz waits until the app listens
   * on its port (pkg/runtime/runtime.go, blockUntilAppIsReady), and the app would wait for it. The variable is in all containers
   * of the pod (pkg/injector/patcher/sidecar_patcher.go), so ports need not tell. 5 s: pkg/runtime/config.go.
   */
  dapr: {
    isCompanion: true,
    admin: "http://localhost:3500",
    drainPath: undefined,
    ready: "http://localhost:3500/v1.0/healthz/outbound",
    readyPath: "/v1.0/healthz/outbound",
    quit: "http://localhost:3500/v1.0/shutdown",
    quitPath: "/v1.0/shutdown",
    ports: [],
    annotation: "dapr.io/enabled",
    isNative: (annotations) => saysYes(annotations.get("dapr.io/enable-native-sidecar")),
    refusals: () => ({
      401: "daprd wants its API token: set DAPR_API_TOKEN here from the secret that dapr.io/api-token-secret names, or use --header 'dapr-api-token: ...'",
      404: "daprd has no shutdown here: allow it in the Dapr Configuration (spec.api.allowed: shutdown, v1.0, http), or say with --admin where daprd's HTTP port is",
      405: "daprd takes POST only; use --quit 'POST http://localhost:3500/v1.0/shutdown'",
    }),
    variable: "DAPR_HTTP_PORT",
    adjust: adjustDapr,
    leaves:
      "when its graceful shutdown is over (dapr.io/graceful-shutdown-seconds, 5 by default, after dapr.io/block-shutdown-duration)",
  },
  /**
   * Vault Agent: vault command/agent.go, handleQuit (404 where it is off, 405 but for POST). Annotations: vault-k8s,
   * agent-inject/agent/{annotations,config}.go: without agent-enable-quit or a cache there is no listener at all. It has no
   * readiness endpoint: its init container has rendered the secrets before the app starts. 8200 is a Vault server's port
   * too, so ports do not tell.
   */
  "vault-agent": {
    isCompanion: true,
    admin: "http://localhost:8200",
    drainPath: undefined,
    ready: undefined,
    readyPath: undefined,
    quit: "http://localhost:8200/agent/v1/quit",
    quitPath: "/agent/v1/quit",
    ports: [],
    annotation: "vault.hashicorp.com/agent-inject-status",
    isNative: () => false,
    refusals: () => ({
      404: 'Vault Agent\'s quit endpoint is off: annotate the pod with vault.hashicorp.com/agent-enable-quit: "true"',
      405: "Vault Agent takes POST only; use --quit 'POST http://localhost:8200/agent/v1/quit'",
    }),
    isInjected: (annotations) => !saysYes(annotations.get("vault.hashicorp.com/agent-pre-populate-only")),
    adjust: adjustVault,
    unreachable: () =>
      'Vault Agent listens only where it is told to: annotate the pod with vault.hashicorp.com/agent-enable-quit: "true" (its port is vault.hashicorp.com/agent-cache-listener-port, 8200 by default)',
  },
  /**
   * The Cloud SQL Auth Proxy: cloud-sql-proxy cmd/root.go starts the admin server once it serves its databases, so a
   * connection to it means ready (/readiness would connect to each database at each attempt). The variable is the
   * operator's: cloud-sql-proxy-operator internal/workload/podspec_updates.go. 9091 is anyone's port, so ports do not tell.
   */
  "cloud-sql-proxy": {
    isCompanion: true,
    admin: "http://localhost:9091",
    drainPath: undefined,
    ready: "tcp://localhost:9091",
    readyPath: undefined,
    quit: "http://localhost:9091/quitquitquit",
    quitPath: "/quitquitquit",
    ports: [],
    annotation: undefined,
    isNative: () => false,
    refusals: () => ({
      400: "the Cloud SQL Auth Proxy takes GET and POST only",
      404: "the Cloud SQL Auth Proxy's quit endpoint is off: start it with --quitquitquit",
    }),
    variable: "CSQL_PROXY_QUIT_URLS",
    adjust: adjustCloudSql,
    unreachable: () =>
      "the Cloud SQL Auth Proxy listens for quits only with --quitquitquit (and --admin-port, 9091 by default)",
  },
} as const satisfies Readonly<Record<string, SidecarKind>>;

export type SidecarName = keyof typeof sidecarKinds;

export const sidecarNames = Object.keys(sidecarKinds) as readonly SidecarName[];

export function kindOf(name: SidecarName): SidecarKind {
  return sidecarKinds[name];
}

/** istio-proxy under initContainers, and not under containers, is a native sidecar. */
function isIstioNative(annotations: Annotations): boolean {
  const text = annotations.get("sidecar.istio.io/status");
  if (text === undefined) return false;
  const { parseIstioStatus } = require("./istio-status.ts") as typeof import("./istio-status.ts");
  const { containers, initContainers } = parseIstioStatus(text);
  return initContainers.includes("istio-proxy") && !containers.includes("istio-proxy");
}

/** A sidecar of this pod, or what the user said of one with URLs alone. */
export interface Sidecar {
  readonly name: SidecarName | "custom";
  /** A native sidecar ends by itself after the app; a quit would only restart it. */
  readonly isNative: boolean;
  /** Its Envoy: the admin interface, and the path there that drains its listeners. Undefined where it is none. */
  readonly envoy: { readonly admin: HttpTarget; readonly drainPath: string } | undefined;
  readonly ready: readonly Probe[];
  readonly quits: readonly QuitRequest[];
  /** Executables whose processes are ended by signals, as `--signal-process` has them. */
  readonly processes: readonly string[];
  /** The same, where nothing else has ended it. */
  readonly lastResort?: readonly string[];
  /** It takes a quit, answers, and goes later: when. Undefined: it goes at once. */
  readonly leaves?: string;
  /** Its admin interface is on this socket instead, once that is there. */
  readonly socket?: { readonly pattern: string; readonly quitPath: string | undefined };
}

/** `URL` or `METHOD URL`, with `+` before it for one more; undefined for anything else. POST where no method is given. */
export function parseQuit(text: string): QuitRequest | undefined {
  const [, more, method = "POST", url = ""] = /^(\+)?(?:([A-Za-z]+)\s+)?(\S+)$/.exec(text) ?? [];
  const target = parseHttpTarget(url);
  if (target === undefined) return undefined;
  return { method: method.toUpperCase(), target, ...(more === undefined ? {} : { isMore: true }) };
}

export function describeQuit({ method, target }: QuitRequest): string {
  return `${method} ${describeTarget(target)}`;
}

/** `Name: value`; undefined for anything else (RFC 9110, field names and values). */
export function parseHeader(text: string): Header | undefined {
  const match = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*)$/.exec(text);
  return match === null ? undefined : [match[1] as string, match[2] as string];
}

/** What a sidecar's answer to a quit means: undefined when it will go. */
export function quitRefusal(name: Sidecar["name"], answer: HttpAnswer): string | undefined {
  if (answer.status >= 200 && answer.status < 300) return undefined;
  const meaning = name === "custom" ? undefined : kindOf(name).refusals()[answer.status];
  return meaning === undefined ? `HTTP ${answer.status}` : `HTTP ${answer.status}: ${meaning}`;
}

/** What it means that nobody listens where the quit of a sidecar goes that is here; undefined: that only its user can tell. */
export function quitUnreachable(name: Sidecar["name"]): string | undefined {
  if (name === "custom") return undefined;
  return kindOf(name).unreachable?.() ?? "nobody listens there; --admin says where its admin interface is";
}
