import {
  type Address,
  describeTarget,
  type HttpTarget,
  nameIn,
  parseHttpTarget,
  parseUnix,
} from "../../core/address.ts";
import { formatHostPort, isPort } from "../../core/host-port.ts";
import { redactUrl } from "../../core/redact.ts";
import { excerpt, type Header, type HttpAnswer } from "../../http/core/http-framing.ts";

/** What is asked to learn whether something is ready. */
export type Probe =
  | {
      readonly kind: "http";
      readonly target: HttpTarget;
      /** An answer whose trimmed body is this text does not count as ready: it says nothing of what is asked for. */
      readonly except?: string;
      /** The only status that counts as ready. Undefined: any 2xx. */
      readonly only?: number;
      /** The user's headers for the request. */
      readonly headers?: readonly Header[];
    }
  | {
      /** Ready if the health service of a gRPC server says that it is (grpc.health.v1). */
      readonly kind: "grpc";
      readonly target: Pick<HttpTarget, "address" | "isSecure" | "authority">;
      /** The name of the service; empty: the server as a whole. */
      readonly service: string;
      /** The user's headers for the request. */
      readonly headers?: readonly Header[];
    }
  /** Ready if a connection is accepted, and stays open for `staysOpenMs` (undefined: 0). */
  | { readonly kind: "connect"; readonly address: Address; readonly staysOpenMs?: number }
  /** Ready if the file exists and, if `isNotEmpty`, has contents. */
  | { readonly kind: "file"; readonly path: string; readonly isNotEmpty?: true }
  /** Ready if any of the probes is. */
  | { readonly kind: "any"; readonly probes: readonly Probe[] };

/** Whether a probe is ready. The reason why not is for people. */
export type ProbeVerdict = { readonly ready: true } | { readonly ready: false; readonly reason: string };

/** The forms of a target, for messages. */
export const TARGET_FORMS =
  "http(s)://host:port/path, grpc(s)://host:port[/service], tcp://host:port, unix:/socket or file:/path[?nonempty]";

/**
 * Parses `http(s)://host:port/path`, `grpc(s)://host:port`, with `/service` or not, `tcp://host:port` (or
 * `tcp:host:port`), `unix:/socket`, `file:/path` or `file:/path?nonempty`. Returns undefined for anything else.
 */
export function parseProbe(text: string): Probe | undefined {
  const unix = parseUnix(text);
  if (unix !== undefined) return { kind: "connect", address: unix };
  const [, path, nonempty] = /^file:(?:\/\/)?(\/.*?)(\?nonempty)?$/.exec(text) ?? [];
  if (path !== undefined) return { kind: "file", path, ...(nonempty === undefined ? {} : { isNotEmpty: true }) };
  const [, scheme, host, port, rest = ""] = HOST_AND_PORT.exec(text) ?? [];
  if (scheme !== undefined && host !== undefined && isPort(Number(port))) {
    const address = { kind: "tcp", host: host.replace(/^\[|\]$/g, "").toLowerCase(), port: Number(port) } as const;
    if (!/^grpc/i.test(scheme)) return rest === "" ? { kind: "connect", address } : undefined;
    if (host.includes("@")) return undefined;
    const authority = formatHostPort(address.host, address.port);
    return { kind: "grpc", target: { address, isSecure: /s:/i.test(scheme), authority }, service: rest };
  }
  const target = parseHttpTarget(text);
  return target === undefined ? undefined : { kind: "http", target };
}

/** The scheme, the host (an IPv6 address in brackets), the port, and what follows a slash behind it. */
const HOST_AND_PORT =
  /^(tcp:(?:\/\/)?|grpcs?:\/\/)(\[[0-9a-f.]*:[0-9a-f:.]*\]|[^:/[\]\s]+):(\d{1,5})(?:\/([^\s?#]*))?$/i;

/** Returns the probe with the user's headers in each of its requests. */
export function withHeaders(probe: Probe, headers: readonly Header[]): Probe {
  if (headers.length === 0) return probe;
  if (probe.kind === "any") return { ...probe, probes: probe.probes.map((one) => withHeaders(one, headers)) };
  return "target" in probe ? { ...probe, headers } : probe;
}

/** A proxy that cannot reach its backend closes the connection at once: a refusal comes within a round trip. */
const STAYS_OPEN_MS = 100;

/**
 * Parses a user's target as `parseProbe` does. A connection to it must stay open for 100 ms (`STAYS_OPEN_MS`): a proxy
 * before it, a mesh's or a sidecar's own, also accepts for a target that is down.
 */
export function parseTarget(text: string): Probe | undefined {
  const probe = parseProbe(text);
  return probe?.kind === "connect" ? { ...probe, staysOpenMs: STAYS_OPEN_MS } : probe;
}

/**
 * Returns `; did you mean tcp://db:5432?` for a user's target `db:5432`, that its port is missing for `tcp://db`, and
 * nothing for any other text.
 */
export function hintAtTcp(text: string): string {
  if (/^tcp:\/\/[^:/?#@]+$/.test(text)) return `; its port is missing: ${text}:PORT`;
  return parseTarget(`tcp://${text}`) === undefined ? "" : `; did you mean ${redactUrl(`tcp://${text}`)}?`;
}

/** Returns `; did you mean http://localhost:15000?` for `localhost:15000`. */
export function hintAtHttp(text: string): string {
  const isHost = /^[a-z0-9.-]+:\d+(\/|$)/i.test(text);
  return isHost ? `; did you mean ${redactUrl(`http://${text}`)}?` : "";
}

/** Formats a probe as the log names it: `http://localhost:15021/healthz/ready`, `tcp://db:5432`, `file:/ready`. */
export function describeProbe(probe: Probe): string {
  if (probe.kind === "http") return describeTarget(probe.target);
  if (probe.kind === "grpc") {
    const { target, service } = probe;
    return `grpc${target.isSecure ? "s" : ""}://${target.authority}${service === "" ? "" : `/${service}`}`;
  }
  if (probe.kind === "file") return `file:${probe.path}${probe.isNotEmpty === true ? "?nonempty" : ""}`;
  if (probe.kind === "any") return probe.probes.map(describeProbe).join(" or ");
  const { address } = probe;
  if (address.kind === "unix") return `unix:${address.path}`;
  return `tcp://${formatHostPort(address.host, address.port)}`;
}

/**
 * Returns the function that judges this probe's answers: 2xx is ready, unless the probe's `only` or `except` rules the
 * answer out. Without `only`, /server_info must also say the state LIVE: Envoy answers it with 200 in every state.
 */
export function chooseJudge({
  target: { path },
  except,
  only,
}: Extract<Probe, { kind: "http" }>): (answer: HttpAnswer) => ProbeVerdict {
  if (only !== undefined) return (answer) => judgeOnly(answer, only);
  if (isServerInfo(path)) return judgeState;
  return except === undefined ? judgeStatus : (answer) => judgeBut(answer, except);
}

function judgeOnly(answer: HttpAnswer, only: number): ProbeVerdict {
  const verdict = judgeStatus(answer);
  if (!verdict.ready || answer.status === only) return verdict;
  return { ready: false, reason: `HTTP ${answer.status}, expected ${only}` };
}

function judgeBut(answer: HttpAnswer, except: string): ProbeVerdict {
  const verdict = judgeStatus(answer);
  if (!verdict.ready || answer.body.trim() !== except) return verdict;
  return { ready: false, reason: `HTTP ${answer.status} ${excerpt(answer.body)}, which does not prove it is ready` };
}

/**
 * Returns how many bytes an answer may have: 1 MiB for /server_info, which lists all of Envoy's extensions. Returns
 * undefined if the HTTP client's usual limit holds.
 */
export function maxAnswerOf({ path }: HttpTarget): number | undefined {
  return isServerInfo(path) ? 1024 * 1024 : undefined;
}

function isServerInfo(path: string): boolean {
  return path.endsWith("/server_info") || path.includes("/server_info?");
}

/**
 * Judges by the state: LIVE, DRAINING, PRE_INITIALIZING, INITIALIZING (envoyproxy.io,
 * api-v3/admin/v3/server_info.proto).
 */
function judgeState(answer: HttpAnswer): ProbeVerdict {
  const verdict = judgeStatus(answer);
  if (!verdict.ready) return verdict;
  const state = stateIn(answer.body);
  if (state === "LIVE") return verdict;
  return {
    ready: false,
    reason: state === undefined ? `no state in ${excerpt(answer.body)}` : `state ${excerpt(state)}`,
  };
}

function stateIn(body: string): string | undefined {
  try {
    const state: unknown = JSON.parse(body)?.state;
    return typeof state === "string" ? state : undefined;
  } catch {
    return undefined; // the reason quotes it
  }
}

/**
 * Judges an answer by its status: 2xx is ready. For any other the reason has the status, and an excerpt of the body.
 */
export function judgeStatus(answer: HttpAnswer): ProbeVerdict {
  const { status, headers, body } = answer;
  if (status >= 200 && status < 300) return { ready: true };
  if (status >= 300 && status < 400) {
    return {
      ready: false,
      reason: `HTTP ${status}, a redirect to ${excerpt(redactUrl(headers.get("location") ?? ""))}`,
    };
  }
  return {
    ready: false,
    reason: body.trim() === "" ? `HTTP ${status}` : `HTTP ${status} ${excerpt(body)}`,
  };
}

/** The reason that `judgeStatus` gives for the answer of Envoy's /ready while its health checks are failed. */
export const ENVOY_DRAINING = 'HTTP 503 "DRAINING"';

/** The reason if a gRPC server does not know the service grpc.health.v1.Health. */
export const NO_HEALTH_SERVICE = "it has no gRPC health service";

/** A probe without alternatives. */
type OneProbe = Exclude<Probe, { kind: "any" }>;

/** Returns the first of a probe's alternatives, which is the sidecar's own endpoint; a probe without any as it is. */
export function firstOf(probe: Probe): OneProbe {
  return probe.kind === "any" ? firstOf(probe.probes[0] as Probe) : probe;
}

/** Returns the address of the server that a probe asks; undefined for a file, and for one with alternatives. */
export function addressOf(probe: Probe): Address | undefined {
  if (probe.kind === "any" || probe.kind === "file") return undefined;
  return "target" in probe ? probe.target.address : probe.address;
}

/** Reports whether a probe asks the server at this address: at the same Unix socket, or on the same port of any host. */
export function isAt(probe: OneProbe, address: Address): boolean {
  const own = addressOf(probe);
  if (own === undefined) return false;
  if (own.kind === "tcp") return address.kind === "tcp" && own.port === address.port;
  return address.kind === "unix" && own.path === address.path;
}

/** Returns the name that must be looked up before this probe's target can be asked, if there is one. */
export function nameOf(probe: Probe): string | undefined {
  if ("target" in probe) return nameIn(probe.target.address);
  return probe.kind === "connect" ? nameIn(probe.address) : undefined;
}

/** Returns the probe at one IP address of its host, which is a name. */
export function withIp(probe: Probe, ip: string): Probe {
  const at = (address: Address): Address => (address.kind === "tcp" ? { ...address, ips: [ip] } : address);
  if (probe.kind === "http") return { ...probe, target: { ...probe.target, address: at(probe.target.address) } };
  if (probe.kind === "grpc") return { ...probe, target: { ...probe.target, address: at(probe.target.address) } };
  return probe.kind === "connect" ? { ...probe, address: at(probe.address) } : probe;
}

/**
 * Returns the milliseconds to the next readiness attempt, by the milliseconds waited so far: 9 in the first 3 s, 24 in
 * the first minute, 249 after. With a late timer and the time to ask, ready is noticed within 10, 25 and 250 ms.
 */
export function pollPeriodMs(waitedMs: number): number {
  if (waitedMs < 3000) return 9;
  return waitedMs < 60_000 ? 24 : 249;
}

/**
 * Returns the index of the readiness attempt to end, to make room for a new one. The attempts are in the order in which
 * they began. The first stays: it gets the first answer of a slow server. Of the second and the third it is
 * the second, if that has taken longer than the wait before it. So a server that takes `ms` to answer is seen within
 * four times that, even if it never answers its first connections.
 */
export function attemptToEnd(secondAgeMs: number, waitedMs: number): 1 | 2 {
  return secondAgeMs > waitedMs - secondAgeMs ? 1 : 2;
}
