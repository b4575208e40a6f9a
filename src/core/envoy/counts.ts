import { isOwnPort, type ListenerStats, type ManagerStats, portOf, type Stats } from "./stats-model.ts";

/**
 * Whether an answer to `statsPath` is statistics, and not, for example, "Forbidden". It may be empty: a stats matcher may leave
 * nothing of what is asked for, although Envoy counts the asking connection itself.
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

/** Returns the names in statistics of all listeners that have been used. */
export function usedListenerNames(stats: Stats): readonly string[] {
  return [...countConnections(stats).keys()];
}

/** Returns the number of connections on each listener, by its name in statistics. */
export function countConnections(stats: Stats): ReadonlyMap<string, number> {
  const connections = new Map<string, number>();
  for (const [name, { active }] of stats.listeners) if (active !== undefined) connections.set(name, active);
  return connections;
}

/**
 * Returns MANAGER of `listener.LISTENER.http.MANAGER.downstream_rq_completed`. No regular expression, which would try each
 * `.http.` there is.
 */
export function listenerAndManagerIn(name: string): readonly string[] {
  const [start, middle, end] = ["listener.", ".http.", ".downstream_rq_completed"];
  if (!name.startsWith(start) || !name.endsWith(end)) return [];
  const at = name.indexOf(middle, start.length + 1);
  const last = name.length - end.length;
  return at < 0 || at + middle.length >= last
    ? []
    : [name.slice(start.length, at), name.slice(at + middle.length, last)];
}

/**
 * Returns the HTTP connection managers to count, with how many connections the listeners to count have at most: listeners that are
 * left out may share a manager's stat_prefix. A manager's listeners are known once it has answered.
 */
export function managersOf(
  { listeners, managers }: Stats,
  isLeftOut: (listener: string) => boolean,
  isInboundOnly: boolean,
): ReadonlyMap<ManagerStats, number> {
  const counted = new Map<ManagerStats, number>();
  const leftOut = new Set<ManagerStats>();
  for (const [name, listener] of listeners) {
    if (listener.active === undefined) continue;
    const isOut = isLeftOut(name);
    for (const manager of new Set(listener.managers)) {
      if (isOut) leftOut.add(manager);
      else counted.set(manager, (counted.get(manager) ?? 0) + listener.active);
    }
  }
  const found = new Map<ManagerStats, number>();
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

/** Whether a listener serves Envoy or its agent alone (admin, internal, probes), so that its work is none of the app's. */
export function isOwnListener(name: string, listeners: ReadonlyMap<string, ListenerStats>): boolean {
  if (name === "admin" || name.startsWith("envoy_internal_") || isOwnPort(portOf(name))) return true;
  const managers = listeners.get(name)?.managers ?? [];
  return managers.length > 0 && managers.every(({ name }) => ownManagers.has(name));
}
