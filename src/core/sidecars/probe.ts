import { type Address, describeTarget, type HttpTarget, parseHttpTarget, parseUnix } from "../base/address.ts";
import { formatHostPort, isPort } from "../base/host-port.ts";
import { excerpt, type HttpAnswer } from "../base/http-framing.ts";
import { redactUrl } from "../base/redact.ts";

/** Something that can be ready or not. */
export type Probe =
  | {
      readonly kind: "http";
      readonly target: HttpTarget;
      /** An answer with this text does not count: it says nothing of what is asked for. */
      readonly except?: string;
      /** The one status that counts, where not any 2xx does. */
      readonly only?: number;
    }
  | { readonly kind: "connect"; readonly address: Address }
  | { readonly kind: "file"; readonly path: string }
  /** Ready when one of them is. */
  | { readonly kind: "any"; readonly probes: readonly Probe[] };

export type Verdict = { readonly ready: true } | { readonly ready: false; readonly reason: string };

/**
 * Parses `http(s)://host:port/path`, `tcp://host:port` (or `tcp:`), `unix:/socket` or `file:/path`; undefined for anything else.
 */
export function parseProbe(text: string): Probe | undefined {
  const unix = parseUnix(text);
  if (unix !== undefined) return { kind: "connect", address: unix };
  const path = /^file:(?:\/\/)?(\/.*)$/.exec(text)?.[1];
  if (path !== undefined) return { kind: "file", path };
  const [, host, port] = /^tcp:(?:\/\/)?(\[[0-9a-f.]*:[0-9a-f:.]*\]|[^:/[\]\s]+):(\d{1,5})\/?$/i.exec(text) ?? [];
  if (host !== undefined && isPort(Number(port))) {
    return {
      kind: "connect",
      address: {
        kind: "tcp",
        host: host.replace(/^\[|\]$/g, "").toLowerCase(),
        port: Number(port),
      },
    };
  }
  const target = parseHttpTarget(text);
  return target === undefined ? undefined : { kind: "http", target };
}

/** Formats a probe as the log names it: `http://localhost:15021/healthz/ready`, `tcp://db:5432`, `file:/ready`. */
export function describeProbe(probe: Probe): string {
  if (probe.kind === "http") return describeTarget(probe.target);
  if (probe.kind === "file") return `file:${probe.path}`;
  if (probe.kind === "any") return probe.probes.map(describeProbe).join(" or ");
  const { address } = probe;
  if (address.kind === "unix") return `unix:${address.path}`;
  return `tcp://${formatHostPort(address.host, address.port)}`;
}

/**
 * Chooses how to judge a target's answers. Envoy answers /server_info with 200 in every state, so there the state in the body
 * counts.
 */
export function chooseJudge({
  target: { path },
  except,
  only,
}: Extract<Probe, { kind: "http" }>): (answer: HttpAnswer) => Verdict {
  if (only !== undefined) return (answer) => judgeOnly(answer, only);
  if (isServerInfo(path)) return judgeState;
  return except === undefined ? judge : (answer) => judgeBut(answer, except);
}

function judgeOnly(answer: HttpAnswer, only: number): Verdict {
  const verdict = judge(answer);
  if (!verdict.ready || answer.status === only) return verdict;
  return { ready: false, reason: `HTTP ${answer.status}, expected ${only}` };
}

function judgeBut(answer: HttpAnswer, except: string): Verdict {
  const verdict = judge(answer);
  if (!verdict.ready || answer.body.trim() !== except) return verdict;
  return { ready: false, reason: `HTTP ${answer.status} ${excerpt(answer.body)}, which does not tell` };
}

/** Returns how many bytes an answer may have; undefined: the usual limit. /server_info lists all of Envoy's extensions. */
export function maxAnswerOf({ path }: HttpTarget): number | undefined {
  return isServerInfo(path) ? 1024 * 1024 : undefined;
}

function isServerInfo(path: string): boolean {
  return path.endsWith("/server_info") || path.includes("/server_info?");
}

/** envoyproxy.io, api-v3/admin/v3/server_info.proto: LIVE, DRAINING, PRE_INITIALIZING, INITIALIZING. */
function judgeState(answer: HttpAnswer): Verdict {
  const verdict = judge(answer);
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

/** Whether an answer says ready: 2xx does, anything else does not, and says why not. */
export function judge(answer: HttpAnswer): Verdict {
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

/** What `judge` says of Envoy's /ready while its health checks fail. */
export const ENVOY_DRAINING = 'HTTP 503 "DRAINING"';

/**
 * Returns the milliseconds to the next readiness attempt, by the time waited so far: ready is noticed within 10 ms in the first 10
 * s, 25 ms in the first minute, 250 ms after. Slightly less, because asking takes time too.
 */
export function pollPeriodMs(waitedMs: number): number {
  if (waitedMs < 10_000) return 9;
  return waitedMs < 60_000 ? 23 : 245;
}

/**
 * Returns the index of the attempt to end for a new one. `agesMs`: oldest first. It is the one between the two whose ages are
 * closest in proportion, so ages grow as powers, and a server that answers after `ms` is heard within three times that.
 */
export function attemptToEnd(agesMs: readonly number[], periodMs: number): number {
  let found = agesMs.length - 1;
  let least = Number.POSITIVE_INFINITY;
  for (let at = 1; at < agesMs.length; at += 1) {
    const ratio = ((agesMs[at - 1] ?? 0) + periodMs) / ((agesMs[at + 1] ?? 0) + periodMs);
    if (ratio >= least) continue;
    least = ratio;
    found = at;
  }
  return found;
}
