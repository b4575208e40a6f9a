import { describeTarget, type HttpTarget } from "../../../shared/core/address.ts";
import { parseDuration } from "../../../shared/core/duration.ts";
import type { Inbound } from "../../../shared/sidecars/core/inbound.ts";
import type { SocketTables } from "../../process/core/net.ts";
import { countInbound } from "./clusters.ts";
import { countConnections } from "./counts.ts";
import { type InFlight, inFlightOf } from "./in-flight.ts";
import type { ServerInfo } from "./json.ts";
import { type BoundListener, type DumpedListener, scopeOf, sideOf } from "./scope.ts";
import { readStats, type Stats } from "./stats.ts";

/** The state of an Envoy, as `ebb status --json` prints it. Null stands for what is not known. */
export interface EnvoyStatus {
  /** The URL of its admin interface, without a slash at the end. */
  readonly admin: string;
  /**
   * A text for each path that was not answered: `/stats: REASON`; the reason alone if it was the same for all paths.
   */
  readonly problems: readonly string[];
  /** LIVE, DRAINING (its health checks were failed), PRE_INITIALIZING or INITIALIZING. */
  readonly state: string | null;
  /** Its version, such as `1.40.0`. */
  readonly release: string | null;
  /** Since the last hot restart. */
  readonly uptimeMs: number | null;
  /** How often it was hot restarted. */
  readonly epoch: number | null;
  /** Its flags --drain-strategy (in lower case) and --drain-time-s. */
  readonly drainStrategy: string | null;
  readonly drainTimeMs: number | null;
  /**
   * How many HTTP connections draining has closed so far. A drain of listeners shows here, and not in Envoy's state.
   */
  readonly drained: number | null;
  /** What a drain would wait for. */
  readonly inFlight: InFlight | null;
  /** The listeners that are bound; empty if they are not known. */
  readonly listeners: readonly ListenerStatus[];
}

/** The state of one listener that is bound. */
interface ListenerStatus {
  readonly name: string;
  /** `127.0.0.1:8080`, `[::]:80`, or the path of a unix socket. Null for a listener inside Envoy. */
  readonly address: string | null;
  readonly direction: "inbound" | "outbound" | null;
  /** How many connections are open. Null if Envoy does not publish that. */
  readonly connections: number | null;
}

/** An answer of Envoy's admin interface: its text, or the reason why there is none. */
export type AdminAnswer = { readonly text: string } | { readonly problem: string };

/** The answers of an Envoy's admin interface about its state. To ask for them changes nothing. */
export interface AdminAnswers {
  readonly serverInfo: AdminAnswer;
  /** To `statsPath` or `allStatsPath`. */
  readonly stats: AdminAnswer;
  /** To `boundListenersPath`. */
  readonly bound: AdminAnswer;
  /** The listeners in its configuration. */
  readonly dumped: readonly DumpedListener[];
  /** Why some listeners are not in `dumped`. Undefined if all are. */
  readonly notDumped: string | undefined;
  /** To `clustersPath`. Undefined if it is not known which clusters are inbound. */
  readonly clusters: AdminAnswer | undefined;
}

/** The Envoy that was envoy. */
export interface AskedEnvoy {
  readonly admin: HttpTarget;
  readonly drainPath: string;
  readonly inbound: Inbound | undefined;
  /** The sockets of its network namespace. Undefined if that is not the namespace of ebb. */
  readonly sockets: SocketTables | undefined;
}

/**
 * Returns the status of an Envoy, made of its admin interface's answers. What was not answered is null, and one of
 * `problems`.
 */
export function envoyStatus(envoy: AskedEnvoy, answers: AdminAnswers): EnvoyStatus {
  const json = envoyJson();
  const { read, problems } = createReader();
  const info = read("/server_info", answers.serverInfo, json.parseServerInfo);
  const stats = read("/stats", answers.stats, readStats);
  const bound = read("/listeners", answers.bound, json.parseBoundListeners) ?? [];
  read("/config_dump", answers.notDumped === undefined ? { text: "" } : { problem: answers.notDumped }, () => true);
  const scope = scopeOf(envoy.drainPath, { dumped: answers.dumped, bound }, envoy.inbound);
  const clusters = answerText(answers.clusters);
  const { inbound } = envoy;
  const underWay = clusters === undefined || inbound === undefined ? undefined : countInbound(clusters, inbound);
  const readings = { stats, underWay, sockets: envoy.sockets };
  const hasAnswered = info !== undefined || stats !== undefined || bound.length > 0;
  return {
    admin: describeTarget(envoy.admin).replace(/ ?\/$/, ""),
    problems: problems(),
    ...identityOf(info),
    drained: stats === undefined || !stats.published.requests ? null : stats.drained,
    inFlight: hasAnswered ? (inFlightOf(readings, scope) ?? null) : null,
    listeners: listenersOf(bound, answers.dumped, stats),
  };
}

/** Loads json.ts, and with it zod, when there is something to check. */
function envoyJson(): typeof import("./json.ts") {
  return require("./json.ts");
}

function answerText(answer: AdminAnswer | undefined): string | undefined {
  return answer !== undefined && "text" in answer ? answer.text : undefined;
}

interface AnswerReader {
  /**
   * Returns the parsed answer. If it has none, or none that `parse` takes, remembers a problem and returns undefined.
   */
  read<T>(path: string, answer: AdminAnswer, parse: (text: string) => T | undefined): T | undefined;
  /** Returns what could not be read, and why; the reason alone if nothing could be read, for one reason. */
  problems(): readonly string[];
}

function createReader(): AnswerReader {
  const byPath = new Map<string, string>();
  let reads = 0;
  return {
    read(path, answer, parse) {
      reads += 1;
      const value = "text" in answer ? parse(answer.text) : undefined;
      if (value === undefined) byPath.set(path, "problem" in answer ? answer.problem : "not what an Envoy answers");
      return value;
    },
    problems() {
      const reasons = new Set(byPath.values());
      if (byPath.size === reads && reasons.size === 1) return [...reasons];
      return [...byPath].map(([path, why]) => `${path}: ${why}`);
    },
  };
}

type EnvoyIdentity = Pick<EnvoyStatus, "state" | "release" | "uptimeMs" | "epoch" | "drainStrategy" | "drainTimeMs">;

function identityOf(info: ServerInfo | undefined): EnvoyIdentity {
  const flags = info?.command_line_options;
  return {
    state: info?.state ?? null,
    release: releaseOf(info?.version),
    uptimeMs: parseDuration(info?.uptime_current_epoch ?? "") ?? null,
    epoch: flags?.restart_epoch ?? null,
    drainStrategy: flags?.drain_strategy?.toLowerCase() ?? null,
    drainTimeMs: parseDuration(flags?.drain_time ?? "") ?? null,
  };
}

/** Returns `1.40.0` for `9e55.../1.40.0/Clean/RELEASE/BoringSSL` (Envoy, source/common/version/version.cc). */
function releaseOf(version: string | undefined): string | null {
  return version?.split("/")[1] ?? version ?? null;
}

/**
 * Joins the bound listeners with their direction (from the configuration) and their open connections (from the
 * statistics).
 */
function listenersOf(
  bound: readonly BoundListener[],
  dumped: readonly DumpedListener[],
  stats: Stats | undefined,
): readonly ListenerStatus[] {
  const connections = stats === undefined || !stats.published.connections ? undefined : countConnections(stats);
  const byName = new Map(dumped.map((each) => [each.name, each]));
  return bound.map(({ name, address }) => {
    const listener = byName.get(name);
    const statName = listener?.statName ?? address?.replaceAll(":", "_");
    // a listener without a connection so far has no statistics
    const active = statName === undefined ? 0 : (connections?.get(statName) ?? 0);
    return {
      name,
      address: address ?? null,
      direction: listener === undefined ? null : sideOf(listener),
      connections: connections === undefined ? null : active,
    };
  });
}
