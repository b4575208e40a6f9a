import { describeTarget, type HttpTarget } from "../address.ts";
import { parseDuration } from "../duration.ts";
import type { EnvoyStatus, ListenerStatus } from "../snapshot.ts";
import { scopeOf } from "./drain.ts";
import type { BoundListener, DumpedListener, ServerInfo } from "./json.ts";
import {
  countConnections,
  countDrained,
  countInFlight,
  inboundClustersPath,
  isCounting,
  orInbound,
  parseStats,
  type Stats,
  statsPath,
} from "./stats.ts";

/** What Envoy answered: the text, or why there is none. */
export type AdminAnswer = { readonly text: string } | { readonly problem: string };

/** The answers to `adminPaths`, in its order. */
export type AdminAnswers = readonly AdminAnswer[];

/** What an Envoy's admin interface is asked for its state; none of it changes anything. */
export function adminPaths(): readonly string[] {
  return ["/server_info", statsPath, "/listeners?format=json", ...envoyJson().listenerDumpPaths, inboundClustersPath];
}

/** In flight is what a drain, by `drainPath` if no listener is inbound, would wait for. */
export function envoyStatus(admin: HttpTarget, answers: AdminAnswers, drainPath: string): EnvoyStatus {
  const json = envoyJson();
  const read = createReader(answers);
  const info = read(0, json.parseServerInfo);
  const stats = read(1, parseCounting);
  const bound = read(2, json.parseBoundListeners) ?? [];
  const dumped = [3, 4].flatMap((index) => read(index, json.parseListenerDump) ?? []);
  const clusters = answers[5];
  const inbound = clusters !== undefined && "text" in clusters ? clusters.text : undefined;
  const { leftOut } = scopeOf(drainPath, json.directionsOf(dumped));
  return {
    admin: describeTarget(admin).replace(/ ?\/$/, ""),
    problems: read.problems(),
    ...identityOf(info),
    drained: stats === undefined ? null : countDrained(stats),
    inFlight: stats === undefined ? null : orInbound(countInFlight(stats, leftOut), inbound),
    listeners: listenersOf(bound, dumped, stats),
  };
}

/** zod, which checks what Envoy says, is loaded when there is something to check. */
function envoyJson(): typeof import("./json.ts") {
  return require("./json.ts");
}

interface Reader {
  <T>(index: number, parse: (text: string) => T | undefined): T | undefined;
  /** What could not be read, and why; one sentence where that is everything, for one reason. */
  problems(): readonly string[];
}

function createReader(answers: AdminAnswers): Reader {
  const paths = adminPaths().map((path) => path.split("?")[0] ?? path);
  const problems: string[] = [];
  const byPath = new Map<string, string>();
  let reads = 0;
  const read = <T>(index: number, parse: (text: string) => T | undefined): T | undefined => {
    reads += 1;
    const answer = answers[index];
    const value = answer !== undefined && "text" in answer ? parse(answer.text) : undefined;
    if (value !== undefined) return value;
    const why = answer !== undefined && "problem" in answer ? answer.problem : "not what an Envoy answers";
    problems.push(why);
    byPath.set(paths[index] ?? "", why);
    return undefined;
  };
  return Object.assign(read, {
    problems: () => {
      const reasons = new Set(problems);
      if (problems.length === reads && reasons.size === 1) return [...reasons];
      return [...byPath].map(([path, why]) => `${path}: ${why}`);
    },
  });
}

function parseCounting(text: string): Stats | undefined {
  const stats = parseStats(text);
  return isCounting(stats) ? stats : undefined;
}

type Identity = Pick<EnvoyStatus, "state" | "release" | "uptimeMs" | "epoch" | "drainStrategy" | "drainTimeMs">;

function identityOf(info: ServerInfo | undefined): Identity {
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

/** `1.40.0` of `9e55.../1.40.0/Clean/RELEASE/BoringSSL` (Envoy, source/common/version/version.cc). */
function releaseOf(version: string | undefined): string | null {
  return version?.split("/")[1] ?? version ?? null;
}

/** What is bound, with what the configuration says of its direction and statistics of its connections. */
function listenersOf(
  bound: readonly BoundListener[],
  dumped: readonly DumpedListener[],
  stats: Stats | undefined,
): readonly ListenerStatus[] {
  const connections = stats === undefined ? undefined : countConnections(stats);
  const byName = new Map(dumped.map((each) => [each.name, each]));
  return bound.map(({ name, address }) => {
    const { statName = address?.replaceAll(":", "_"), direction } = byName.get(name) ?? {};
    // what nobody used yet has no statistics
    const active = statName === undefined ? 0 : (connections?.get(statName) ?? 0);
    return {
      name,
      address: address ?? null,
      direction: direction === "INBOUND" ? "inbound" : direction === "OUTBOUND" ? "outbound" : null,
      connections: connections === undefined ? null : active,
    };
  });
}
