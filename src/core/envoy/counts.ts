import { isOwnPort, type Listener, type Manager, portOf, type Stats } from "./stats-model.ts";

/**
 * Whether the answer to `statsPath` is statistics: an answer such as "Forbidden" is none. A stats matcher may leave nothing
 * of what is asked for: then the answer is empty, although Envoy counts the asking connection itself.
 */
export function isStatistics(text: string, stats: Stats): boolean {
  return stats.size > 0 || text.trim() === "";
}

/**
 * Counts what a drain waits for: requests on HTTP listeners, connections on the others. Left out are the admin interface
 * (and with it our own connection), statistics and readiness endpoints, internal listeners, rows of single workers, and
 * the listeners in `outbound`, by their names in statistics.
 */
export function countInFlight(stats: Stats, outbound: ReadonlySet<string> = new Set()): ListenerCount {
  const isLeftOut = (listener: string) => outbound.has(listener) || isOwnListener(listener, stats.listeners);
  let requests = 0;
  let idle = 0;
  let hasRequests = true;
  for (const [manager, atMost] of managersOf(stats, isLeftOut, outbound.size > 0)) {
    const connections = Math.min(manager.connections ?? 0, atMost);
    requests += manager.requests ?? 0;
    // where requests are not shown, the connections themselves are left to be counted below
    if (manager.requests === undefined && connections > 0) hasRequests = false;
    else idle += connections;
  }
  let connections = 0;
  for (const [name, { active = 0 }] of stats.listeners) if (!isLeftOut(name)) connections += active;
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
  return [...countConnections(stats).keys()];
}

/** The connections on each listener, by its name in statistics. */
export function countConnections(stats: Stats): ReadonlyMap<string, number> {
  const connections = new Map<string, number>();
  for (const [name, { active }] of stats.listeners) if (active !== undefined) connections.set(name, active);
  return connections;
}

/** `listener.LISTENER.http.MANAGER.downstream_rq_completed`: not by an expression, which would try each `.http.` there is. */
export function managerIn(name: string): readonly string[] {
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
export function managersOf(
  { listeners, managers }: Stats,
  isLeftOut: (listener: string) => boolean,
  isInboundOnly: boolean,
): ReadonlyMap<Manager, number> {
  const counted = new Map<Manager, number>();
  const leftOut = new Set<Manager>();
  for (const [name, listener] of listeners) {
    if (listener.active === undefined) continue;
    const isOut = isLeftOut(name);
    for (const manager of new Set(listener.managers)) {
      if (isOut) leftOut.add(manager);
      else counted.set(manager, (counted.get(manager) ?? 0) + listener.active);
    }
  }
  const found = new Map<Manager, number>();
  for (const [name, manager] of managers) {
    if (manager.connections === undefined || ownManagers.has(name)) continue;
    // Istio's (pilot, BuildStatPrefix): its statistics do not say which listener is whose
    if (isInboundOnly && name.startsWith("outbound_")) continue;
    const atMost = counted.get(manager) ?? (leftOut.has(manager) ? undefined : Number.POSITIVE_INFINITY);
    if (atMost !== undefined) found.set(manager, atMost);
  }
  return found;
}

/** The HTTP connection managers of admin, statistics and readiness endpoints: Envoy's own, Contour's, Istio's (15021), Envoy Gateway's. */
export const ownManagers: ReadonlySet<string> = new Set([
  "admin",
  "envoy-admin",
  "stats",
  "stats-health",
  "health",
  "agent",
  "eg-ready-http",
  "eg-stats-http",
]);

export function isOwnListener(name: string, listeners: ReadonlyMap<string, Listener>): boolean {
  if (name === "admin" || name.startsWith("envoy_internal_") || isOwnPort(portOf(name))) return true;
  const managers = listeners.get(name)?.managers ?? [];
  return managers.length > 0 && managers.every(({ name }) => ownManagers.has(name));
}
