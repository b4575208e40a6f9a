/** What an Envoy counts, of what /stats is asked for here. */
export interface Stats {
  /** How many statistics there were, whatever they count. */
  readonly size: number;
  readonly published: Published;
  /** By the name in statistics: its address with `_` for `:`, or its stat_prefix (Envoy, listener_impl.cc). */
  readonly listeners: ReadonlyMap<string, Listener>;
  /** HTTP connection managers by stat_prefix. */
  readonly managers: ReadonlyMap<string, Manager>;
  /** HTTP connections that draining has closed since Envoy started, by `connection: close` or GOAWAY. */
  readonly drained: number;
}

/** Of the statistics that are counted here; our own request and connection are among them, where they are published. */
export interface Published {
  /** Of HTTP connection managers. */
  readonly requests: boolean;
  /** Of listeners. */
  readonly connections: boolean;
}

interface Listener {
  /** Connections; undefined: it does not say. */
  readonly active: number | undefined;
  /** Those that have answered on it. */
  readonly managers: readonly Manager[];
}

interface Manager {
  readonly name: string;
  /** Undefined: it does not say. */
  readonly requests: number | undefined;
  readonly connections: number | undefined;
}

/** The path of all that is counted here, in its text form, without what was never used (envoyproxy.io, operations/admin, /stats). */
export const statsPath = `/stats?usedonly&filter=${encodeURIComponent(
  "^(http|listener)\\..*downstream_(rq|cx)_active$|^listener\\..*\\.http\\..*\\.downstream_rq_completed$|^http\\..*\\.downstream_cx_drain_close$",
)}`;

/** The path of all listeners and their addresses, in a few lines each. */
export const boundListenersPath = "/listeners?format=json";

/** Reads `name: number` lines; histograms and text readouts are left out. */
export function parseStats(text: string): Stats {
  const stats = noStats();
  addTo(stats, text);
  return stats;
}

/** Bytes that are kept of statistics, and what each name costs beside itself: those of thirty thousand listeners fit. */
const MOST_KEPT = 16 * 1024 * 1024;
const ENTRY = 200;

/** The same of an answer that comes some lines at a time; undefined where it is something else. */
export function createStatsReader() {
  const stats = noStats();
  let isBlank = true;
  return {
    take(lines: string): void {
      isBlank &&= lines.trim() === "";
      if (stats.kept <= MOST_KEPT) addTo(stats, lines);
    },
    stats: (): Stats | undefined => (stats.kept <= MOST_KEPT && (stats.size > 0 || isBlank) ? stats : undefined),
  };
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Statistics that are being read. */
interface Reading extends Writable<Omit<Stats, "published" | "listeners" | "managers">> {
  readonly published: Writable<Published>;
  readonly listeners: Map<string, Writable<Listener> & { readonly managers: Manager[] }>;
  readonly managers: Map<string, Writable<Manager>>;
  /** Bytes. */
  kept: number;
}

function noStats(): Reading {
  const published = { requests: false, connections: false };
  return { size: 0, published, listeners: new Map(), managers: new Map(), drained: 0, kept: 0 };
}

function addTo(stats: Reading, text: string): void {
  for (let at = 0; at < text.length; ) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    const line = text.slice(at, end);
    at = end + 1;
    const colon = line.lastIndexOf(": ");
    const value = line.slice(colon + 2).trim();
    if (colon > 0 && /^\d{1,20}$/.test(value)) add(stats, line.slice(0, colon), Number(value));
  }
}

function add(stats: Reading, name: string, value: number): void {
  stats.size += 1;
  if (name.endsWith(drainClose)) stats.drained += value;
  if (name.startsWith("listener.")) addOfListener(stats, name, value);
  if (!name.startsWith("http.")) return;
  const requestsOf = between(name, "http.", ".downstream_rq_active");
  const connectionsOf = between(name, "http.", ".downstream_cx_active");
  if (requestsOf !== "") {
    stats.published.requests = true;
    managerOf(stats, requestsOf).requests = value;
  }
  if (connectionsOf !== "") managerOf(stats, connectionsOf).connections = value;
}

const drainClose = ".downstream_cx_drain_close";

function addOfListener(stats: Reading, name: string, value: number): void {
  const [answering, manager] = managerIn(name);
  if (answering !== undefined && manager !== undefined)
    listenerOf(stats, answering).managers.push(managerOf(stats, manager));
  const listener = between(name, "listener.", ".downstream_cx_active");
  if (listener === "") return;
  stats.published.connections = true;
  if (!/\.(worker_\d+|main_thread)$/.test(listener)) listenerOf(stats, listener).active = value;
}

/** Empty where there is nothing between them, or they are not there. */
function between(name: string, start: string, end: string): string {
  return name.startsWith(start) && name.endsWith(end) ? name.slice(start.length, -end.length) : "";
}

function listenerOf(stats: Reading, name: string) {
  return stats.listeners.get(name) ?? keep(stats, stats.listeners, name, { active: undefined, managers: [] });
}

function managerOf(stats: Reading, name: string): Writable<Manager> {
  const own = stats.managers.get(name);
  if (own !== undefined) return own;
  const copy = copied(name);
  return keep(stats, stats.managers, copy, { name: copy, requests: undefined, connections: undefined });
}

function keep<T>(stats: Reading, map: Map<string, T>, name: string, value: T): T {
  stats.kept += name.length + ENTRY;
  map.set(copied(name), value);
  return value;
}

/** A text of its own: a slice would keep all that it was cut from. */
function copied(text: string): string {
  return text.slice(0, 1) + text.slice(1);
}

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
function managersOf(
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
  return managers.length > 0 && managers.every(({ name }) => ownManagers.has(name));
}
