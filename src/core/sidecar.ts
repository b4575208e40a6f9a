import { at, describeTarget, type HttpTarget, parseHttpTarget } from "./address.ts";
import type { Header, HttpAnswer } from "./http-message.ts";
import { type Probe, parseProbe } from "./probe.ts";

export interface QuitRequest {
  readonly method: string;
  readonly target: HttpTarget;
  /** Asked besides the sidecar's own quit, not instead of it. */
  readonly isMore?: true;
}

/** The pod's annotations, as the downward API gives them. */
export type Annotations = ReadonlyMap<string, string>;

/** A sidecar that ebb knows, as data. Ports are on the pod's loopback. */
export interface SidecarKind {
  /** The base of its admin interface; `--admin` replaces it. */
  readonly admin: string;
  /** The path, on an Envoy's admin interface, that drains its listeners; undefined: not an Envoy. */
  readonly drainPath: string | undefined;
  /** Its own readiness endpoint. */
  readonly ready: string;
  /** Where readiness is asked when `--admin` says where the admin interface is. */
  readonly readyPath: string;
  readonly quit: string;
  /** Where quit is sent when `--admin` is given; undefined: `quit` stays. */
  readonly quitPath: string | undefined;
  /** Any of these listening means that it is here. */
  readonly ports: readonly number[];
  /** The annotation that its injector leaves on the pod. */
  readonly annotation: string | undefined;
  readonly isNative: (annotations: Annotations) => boolean;
  /** What a refusal means, by HTTP status, and what to change. */
  readonly refusals: Readonly<Record<number, string>>;
}

/** Beside an app outbound must go on (istio#51855); skip_exit: the listeners keep accepting (Envoy, listeners_handler.cc). */
export const inboundDrain = "/drain_listeners?graceful&inboundonly&skip_exit";

export const sidecarKinds = {
  /** pilot-agent and Envoy: istio pilot/cmd/pilot-agent/status/server.go, app/wait.go. Its quit skips the drain (istio#55424). */
  istio: {
    admin: "http://localhost:15000",
    drainPath: inboundDrain,
    ready: "http://localhost:15021/healthz/ready",
    readyPath: "/ready",
    quit: "http://localhost:15020/quitquitquit",
    quitPath: undefined,
    ports: [15021, 15020, 15000],
    annotation: "sidecar.istio.io/status",
    isNative: isIstioNative,
    refusals: {
      403: "pilot-agent takes quits from the pod's own loopback only; use http://localhost:15020/quitquitquit",
      404: "no such path: pilot-agent has /quitquitquit since Istio 1.3; is this pilot-agent's status port (15020)?",
      405: "pilot-agent takes POST only; use --quit 'POST http://localhost:15020/quitquitquit'",
    },
  },
  /** A plain Envoy: its admin interface (envoyproxy.io, operations/admin). 9901 is the usual port. */
  envoy: {
    admin: "http://localhost:9901",
    drainPath: "/drain_listeners?graceful&skip_exit",
    ready: "http://localhost:9901/ready",
    readyPath: "/ready",
    quit: "http://localhost:9901/quitquitquit",
    quitPath: "/quitquitquit",
    ports: [9901],
    annotation: undefined,
    isNative: () => false,
    refusals: {
      403: "Envoy's admin interface does not allow this path (admin.allow_paths); allow /quitquitquit",
      404: "no such path: is this Envoy's admin interface? --admin says where it is",
      405: "Envoy takes POST only; use --quit 'POST URL'",
    },
  },
  /** linkerd2-proxy: linkerd/app/admin/src/server.rs. The shutdown endpoint is off by default since edge-24.6.2. */
  linkerd: {
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
    refusals: {
      403: "linkerd-proxy takes shutdowns from the pod's own loopback only; use http://localhost:4191/shutdown",
      404: 'its shutdown endpoint is off: set proxy.enableShutdownEndpoint=true in Linkerd\'s Helm values, or annotate the pod with config.linkerd.io/proxy-enable-shutdown-endpoint: "true"',
      405: "linkerd-proxy takes POST only; use --quit 'POST http://localhost:4191/shutdown'",
    },
  },
} as const satisfies Readonly<Record<string, SidecarKind>>;

export type SidecarName = keyof typeof sidecarKinds;

export const sidecarNames = Object.keys(sidecarKinds) as readonly SidecarName[];

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
}

export interface FoundSidecar {
  readonly name: SidecarName;
  readonly isNative: boolean;
}

/** What the user said of the sidecars with `--admin`, `--ready` and `--quit`. */
export interface SidecarUrls {
  readonly admin: HttpTarget | undefined;
  readonly ready: readonly Probe[];
  readonly quit: readonly QuitRequest[];
}

/**
 * The sidecars to wait for and to quit. Given quits replace a sidecar's own, or come besides it; given probes always do.
 * Loops, here and on all of a start's way: each of filter, map, some, find costs 0.03 ms when first used (measured).
 */
export function planSidecars(found: readonly FoundSidecar[], urls: SidecarUrls): readonly Sidecar[] {
  const instead: QuitRequest[] = [];
  const more: QuitRequest[] = [];
  for (const quit of urls.quit) (quit.isMore === true ? more : instead).push(quit);
  const known: Sidecar[] = [];
  let areAllNative = found.length > 0;
  for (const { name, isNative } of found) {
    const kind: SidecarKind = sidecarKinds[name];
    const given = found.length === 1 ? instead : [];
    const quits = instead.length > 0 ? given : [ownQuit(kind, urls.admin)];
    known.push({
      name,
      isNative,
      envoy: ownEnvoy(kind, urls.admin),
      ready: [ownProbe(kind, urls.admin)],
      quits: isNative ? [] : quits,
    });
    areAllNative &&= isNative;
  }
  const others = known.length === 1 || areAllNative ? [] : instead;
  const quits = [...others, ...more];
  if (urls.ready.length === 0 && quits.length === 0) return known;
  return [...known, { name: "custom", isNative: false, envoy: undefined, ready: urls.ready, quits }];
}

function ownEnvoy({ admin, drainPath }: SidecarKind, given: HttpTarget | undefined): Sidecar["envoy"] {
  if (drainPath === undefined) return undefined;
  return { admin: given ?? (parseHttpTarget(admin) as HttpTarget), drainPath };
}

function ownProbe(kind: SidecarKind, admin: HttpTarget | undefined): Probe {
  if (admin === undefined) return parseProbe(kind.ready) as Probe;
  return { kind: "http", target: at(admin, kind.readyPath) };
}

function ownQuit(kind: SidecarKind, admin: HttpTarget | undefined): QuitRequest {
  const base = kind.quitPath === undefined ? undefined : admin;
  const target = base === undefined ? parseHttpTarget(kind.quit) : at(base, kind.quitPath as string);
  return { method: "POST", target: target as HttpTarget };
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
  const kind: SidecarKind | undefined = name === "custom" ? undefined : sidecarKinds[name];
  const meaning = kind?.refusals[answer.status];
  return meaning === undefined ? `HTTP ${answer.status}` : `HTTP ${answer.status}: ${meaning}`;
}
