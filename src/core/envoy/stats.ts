/** What an Envoy counts, by name: gauges and counters of /stats. */
export type Stats = ReadonlyMap<string, number>;

/** The path of all that is counted here, in its text form, without what was never used (envoyproxy.io, operations/admin, /stats). */
export const statsPath = `/stats?usedonly&filter=${encodeURIComponent(
  "^(http|listener)\\..*downstream_(rq|cx)_active$|^listener\\..*\\.http\\..*\\.downstream_rq_completed$|^http\\..*\\.downstream_cx_drain_close$",
)}`;

/** The path of all listeners and their addresses, in a few lines each. */
export const boundListenersPath = "/listeners?format=json";

/** Reads `name: number` lines; histograms and text readouts are left out. */
export function parseStats(text: string): Stats {
  const stats = new Map<string, number>();
  for (const line of text.split("\n")) {
    const colon = line.lastIndexOf(": ");
    const value = line.slice(colon + 2).trim();
    if (colon > 0 && /^\d{1,20}$/.test(value)) stats.set(line.slice(0, colon), Number(value));
  }
  return stats;
}

/** Bytes that are kept of statistics, and what each costs beside its name: those of ten thousand listeners fit. */
const MOST_KEPT = 16 * 1024 * 1024;
const ENTRY = 100;

/** The same of an answer that comes some lines at a time; undefined where it is something else. */
export function createStatsReader() {
  const stats = new Map<string, number>();
  let isBlank = true;
  let kept = 0;
  return {
    take(lines: string): void {
      isBlank &&= lines.trim() === "";
      for (const [name, value] of kept > MOST_KEPT ? [] : parseStats(lines)) {
        stats.set(name, value);
        kept += name.length + ENTRY;
      }
    },
    stats: (): Stats | undefined => (kept <= MOST_KEPT && (stats.size > 0 || isBlank) ? stats : undefined),
  };
}

/**
 * Whether the answer to `statsPath` is statistics: an answer such as "Forbidden" is none. A stats matcher may leave nothing
 * of what is asked for: then the answer is empty, although Envoy counts the asking connection itself.
 */
export function isStatistics(text: string, stats: Stats): boolean {
  return stats.size > 0 || text.trim() === "";
}

/** What of the statistics that are counted here is published; our own request and connection are among them, where they are. */
export function publishedIn(stats: Stats): Published {
  let [requests, connections] = [false, false];
  for (const name of stats.keys()) {
    if (/^http\..+\.downstream_rq_active$/.test(name)) requests = true;
    if (/^listener\..+\.downstream_cx_active$/.test(name)) connections = true;
  }
  return { requests, connections };
}

export interface Published {
  /** Of HTTP connection managers. */
  readonly requests: boolean;
  /** Of listeners. */
  readonly connections: boolean;
}

/**
 * Counts what a drain waits for: requests on HTTP listeners, connections on the others. Left out are the admin interface
 * (and with it our own connection), statistics and readiness endpoints, internal listeners, rows of single workers, and
 * the listeners in `outbound`, by their names in statistics.
 */
export function countInFlight(stats: Stats, outbound: ReadonlySet<string> = new Set()): ListenerCount {
  const listeners = listenersOf(stats);
  const isLeftOut = (listener: string) => outbound.has(listener) || isOwnListener(listener, listeners);
  const managers = managersOf(stats, { listeners, isLeftOut, isInboundOnly: outbound.size > 0 });
  let requests = 0;
  let idle = 0;
  let hasRequests = true;
  for (const [manager, atMost] of managers) {
    const active = stats.get(`http.${manager}.downstream_rq_active`);
    const connections = Math.min(stats.get(`http.${manager}.downstream_cx_active`) ?? 0, atMost);
    requests += active ?? 0;
    // where requests are not shown, the connections themselves are left to be counted below
    if (active === undefined && connections > 0) hasRequests = false;
    else idle += connections;
  }
  let connections = 0;
  for (const [name, { active }] of listeners) if (!isLeftOut(name)) connections += active;
  return { requests, connections: Math.max(0, connections - idle), hasRequests };
}

export interface ListenerCount {
  /** On HTTP listeners: requests, streams and WebSockets under way. Idle keep-alive connections, which Envoy never closes (envoy#42305), are none. */
  readonly requests: number;
  /** On other listeners, and where Envoy publishes no requests: connections. */
  readonly connections: number;
  /** False where some HTTP connections had to be counted instead of their requests. */
  readonly hasRequests: boolean;
}

/** The names in statistics of the listeners that have been used. */
export function listenersIn(stats: Stats): readonly string[] {
  return [...listenersOf(stats).keys()];
}

/** The connections on each listener, by its name in statistics. */
export function countConnections(stats: Stats): ReadonlyMap<string, number> {
  return new Map([...listenersOf(stats)].map(([name, { active }]) => [name, active]));
}

/** HTTP connections that draining has closed since Envoy started, by `connection: close` or GOAWAY. */
export function countDrained(stats: Stats): number {
  let drained = 0;
  for (const [name, value] of stats) if (name.endsWith(".downstream_cx_drain_close")) drained += value;
  return drained;
}

interface Listener {
  /** Connections. */
  readonly active: number;
  /** The HTTP connection managers that have answered on it, by stat_prefix. */
  readonly managers: readonly string[];
}

/** The listeners, and which of them count. */
interface Counted {
  readonly listeners: ReadonlyMap<string, Listener>;
  readonly isLeftOut: (listener: string) => boolean;
  readonly isInboundOnly: boolean;
}

/** By the name in statistics: its address with `_` for `:`, or its stat_prefix (Envoy, listener_impl.cc). */
function listenersOf(stats: Stats): ReadonlyMap<string, Listener> {
  const managers = new Map<string, string[]>();
  for (const name of stats.keys()) {
    const [listener, manager] = managerIn(name);
    if (listener === undefined || manager === undefined) continue;
    const known = managers.get(listener);
    if (known === undefined) managers.set(listener, [manager]);
    else known.push(manager);
  }
  const listeners = new Map<string, Listener>();
  for (const [name, active] of stats) {
    const listener = /^listener\.(.+)\.downstream_cx_active$/.exec(name)?.[1];
    if (listener === undefined || /\.(worker_\d+|main_thread)$/.test(listener)) continue;
    listeners.set(listener, { active, managers: managers.get(listener) ?? [] });
  }
  return listeners;
}

/** `listener.LISTENER.http.MANAGER.downstream_rq_completed`: not by an expression, which would try each `.http.` there is. */
function managerIn(name: string): readonly string[] {
  const [start, middle, end] = ["listener.", ".http.", ".downstream_rq_completed"];
  if (!name.startsWith(start) || !name.endsWith(end)) return [];
  const at = name.indexOf(middle, start.length + 1);
  const last = name.length - end.length;
  return at < 0 || at + middle.length >= last
    ? []
    : [name.slice(start.length, at), name.slice(at + middle.length, last)];
}

/**
 * The HTTP connection managers to count, and how many of their connections the listeners to count have at most: a
 * stat_prefix may be shared with listeners that are left out. Before a manager has answered, its listeners are not known.
 */
function managersOf(stats: Stats, { listeners, isLeftOut, isInboundOnly }: Counted): ReadonlyMap<string, number> {
  const counted = new Map<string, number>();
  const leftOut = new Set<string>();
  for (const [name, { active, managers }] of listeners) {
    for (const manager of managers) {
      if (isLeftOut(name)) leftOut.add(manager);
      else counted.set(manager, (counted.get(manager) ?? 0) + active);
    }
  }
  const found = new Map<string, number>();
  for (const name of stats.keys()) {
    const manager = /^http\.(.+)\.downstream_cx_active$/.exec(name)?.[1];
    if (manager === undefined || ownManagers.has(manager)) continue;
    // Istio's (pilot, BuildStatPrefix): its statistics do not say which listener is whose
    if (isInboundOnly && manager.startsWith("outbound_")) continue;
    const atMost = counted.get(manager) ?? (leftOut.has(manager) ? undefined : Number.POSITIVE_INFINITY);
    if (atMost !== undefined) found.set(manager, atMost);
  }
  return found;
}

/** The HTTP connection managers of admin, statistics and readiness endpoints: Envoy's own, Contour's, Istio's (15021), Envoy Gateway's. */
const ownManagers: ReadonlySet<string> = new Set([
  "admin",
  "envoy-admin",
  "stats",
  "stats-health",
  "health",
  "agent",
  "eg-ready-http",
  "eg-stats-http",
]);

/** The ports of such endpoints, where no request has told whose they are: Istio's 15021 and 15090, Envoy Gateway's 19001 and 19003. */
const ownPorts = [15021, 15090, 19001, 19003];

/** Whether a listener's port is that of an endpoint of the proxy itself. */
export function isOwnPort(port: number | undefined): boolean {
  return port !== undefined && ownPorts.includes(port);
}

/** The port in a listener's name in statistics; undefined where it is named by a stat_prefix, or on a unix socket. */
export function portOf(listener: string): number | undefined {
  const port = /_(\d+)$/.exec(listener)?.[1];
  return port === undefined ? undefined : Number(port);
}

function isOwnListener(name: string, listeners: ReadonlyMap<string, Listener>): boolean {
  if (name === "admin" || name.startsWith("envoy_internal_") || isOwnPort(portOf(name))) return true;
  const managers = listeners.get(name)?.managers ?? [];
  return managers.length > 0 && managers.every((manager) => ownManagers.has(manager));
}
