const filter = encodeURIComponent(
  "^(http|listener)\\..*downstream_(rq|cx)_active$|^listener\\..*\\.http\\..*\\.downstream_rq_completed$|^http\\..*\\.downstream_cx_(drain_close|tx_bytes_buffered)$|^server\\.hot_restart_epoch$",
);

/**
 * The admin path of the statistics that ebb counts, as text; `usedonly` leaves out those that were never written
 * (envoyproxy.io, operations/admin, /stats).
 */
export const statsPath = `/stats?usedonly&filter=${filter}`;

/** The same with those that were never written: several times as many. */
export const allStatsPath = `/stats?filter=${filter}`;

/** The admin path of all listeners and the addresses that they are bound to, as JSON of a few lines each. */
export const boundListenersPath = "/listeners?format=json";

/** The statistics of an Envoy, as far as ebb asks for them. */
export interface Stats {
  /** How many statistics were read, whatever they count. */
  readonly size: number;
  readonly published: Published;
  /**
   * Listeners by their names in statistics: the address with `_` for `:`, or the stat_prefix (Envoy, listener_impl.cc).
   */
  readonly listeners: ReadonlyMap<string, ListenerStats>;
  /** HTTP connection managers by stat_prefix. */
  readonly managers: ReadonlyMap<string, ManagerStats>;
  /**
   * Whether the process has taken over from another by a hot restart, which may still have work in flight. Envoy adds
   * the other's gauges to its own without marking them as written, so `statsPath` leaves out those that it has not
   * written itself (Envoy 1.40, stat_merger.cc, allocator.cc: setParentValue).
   */
  readonly isRestarted: boolean;
  /** How many HTTP connections draining has closed since Envoy started, by `connection: close` or GOAWAY. */
  readonly drained: number;
}

/**
 * Which numbers Envoy publishes. They count ebb's own request and connection too: false means that they are thinned
 * out.
 */
interface Published {
  /** Requests in flight, of HTTP connection managers. */
  readonly requests: boolean;
  /** Open connections, of listeners. */
  readonly connections: boolean;
}

/** The statistics of one listener. */
export interface ListenerStats {
  /** How many connections are open. Undefined if that is not published. */
  readonly active: number | undefined;
  /** The HTTP connection managers of this listener; by `statsPath`, those that have answered a request on it. */
  readonly managers: readonly ManagerStats[];
}

/** The statistics of one HTTP connection manager. */
export interface ManagerStats {
  /** Its stat_prefix. */
  readonly name: string;
  /** How many requests are in flight, and how many connections open. Undefined if that is not published. */
  readonly requests: number | undefined;
  readonly connections: number | undefined;
  /**
   * How many bytes its clients have yet to take. A request is no longer in flight once the end of its answer is among
   * them, and Envoy discards them when it exits. Undefined if that is not published, or nothing was ever sent.
   */
  readonly unsent: number | undefined;
}

/**
 * Parses the text of an answer to `statsPath` or `allStatsPath`. Returns undefined if it is not statistics, such as
 * "Forbidden". An empty answer is: a stats matcher may leave out everything that is asked for. Without one Envoy would
 * at least count the connection that asks.
 */
export function readStats(text: string): Stats | undefined {
  const stats = parseStats(text);
  return stats.size > 0 || text.trim() === "" ? stats : undefined;
}

/** Parses the `name: number` lines of /stats. Leaves out all other lines, such as histograms and text readouts. */
export function parseStats(text: string): Stats {
  const published = { requests: false, connections: false };
  const maps = { listeners: new Map(), managers: new Map() };
  const stats: MutableStats = { size: 0, published, ...maps, isRestarted: false, drained: 0 };
  for (const line of text.split("\n")) {
    const colon = line.lastIndexOf(": ");
    const value = line.slice(colon + 2).trim();
    if (colon > 0 && /^\d{1,20}$/.test(value)) add(stats, line.slice(0, colon), Number(value));
  }
  return stats;
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Statistics that are being read. */
interface MutableStats extends Writable<Omit<Stats, "published" | "listeners" | "managers">> {
  readonly published: Writable<Published>;
  readonly listeners: Map<string, Writable<ListenerStats> & { readonly managers: ManagerStats[] }>;
  readonly managers: Map<string, Writable<ManagerStats>>;
}

function add(stats: MutableStats, name: string, value: number): void {
  stats.size += 1;
  if (name === "server.hot_restart_epoch") stats.isRestarted = value > 0;
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
  const unsentOf = between(name, "http.", ".downstream_cx_tx_bytes_buffered");
  if (unsentOf !== "") managerOf(stats, unsentOf).unsent = value;
}

const drainClose = ".downstream_cx_drain_close";

function addOfListener(stats: MutableStats, name: string, value: number): void {
  const [answering, manager] = listenerAndManagerIn(name);
  if (answering !== undefined && manager !== undefined)
    listenerOf(stats, answering).managers.push(managerOf(stats, manager));
  const listener = between(name, "listener.", ".downstream_cx_active");
  if (listener === "") return;
  stats.published.connections = true;
  // rows of single worker threads, whose sum is the listener's
  if (!/\.(worker_\d+|main_thread)$/.test(listener)) listenerOf(stats, listener).active = value;
}

/**
 * Returns [LISTENER, MANAGER] for the statistic `listener.LISTENER.http.MANAGER.downstream_rq_completed`, and an empty
 * list for any other name.
 */
function listenerAndManagerIn(name: string): readonly string[] {
  const [start, middle, end] = ["listener.", ".http.", ".downstream_rq_completed"];
  // a regular expression would try each `.http.` there is
  if (!name.startsWith(start) || !name.endsWith(end)) return [];
  const at = name.indexOf(middle, start.length + 1);
  const last = name.length - end.length;
  return at < 0 || at + middle.length >= last
    ? []
    : [name.slice(start.length, at), name.slice(at + middle.length, last)];
}

/**
 * Returns the part of a name between `start` and `end`. Empty if there is nothing between them, or the name lacks one
 * of them.
 */
function between(name: string, start: string, end: string): string {
  return name.startsWith(start) && name.endsWith(end) ? name.slice(start.length, -end.length) : "";
}

function listenerOf(stats: MutableStats, name: string) {
  return getOrAdd(stats.listeners, name, { active: undefined, managers: [] });
}

function managerOf(stats: MutableStats, name: string): Writable<ManagerStats> {
  return getOrAdd(stats.managers, name, { name, requests: undefined, connections: undefined, unsent: undefined });
}

function getOrAdd<T>(map: Map<string, T>, name: string, fresh: T): T {
  const value = map.get(name) ?? fresh;
  map.set(name, value);
  return value;
}

/**
 * The ports of the proxy's own statistics and readiness endpoints: Istio's 15021 and 15090, Envoy Gateway's 19001 and
 * 19003. They tell what a listener is until a request shows which manager serves it.
 */
const ownPorts = [15021, 15090, 19001, 19003];

/** Reports whether a listener's port is one of `ownPorts`, an endpoint of the proxy itself. */
export function isOwnPort(port: number | undefined): boolean {
  return port !== undefined && ownPorts.includes(port);
}

/**
 * Returns the port in a listener's name in statistics: 80 for `0.0.0.0_80`. Returns undefined if the name does not end
 * so.
 */
export function listenerPort(listener: string): number | undefined {
  const port = /_(\d+)$/.exec(listener)?.[1];
  return port === undefined ? undefined : Number(port);
}
