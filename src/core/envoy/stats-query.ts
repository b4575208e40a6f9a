import { listenerAndManagerIn } from "./counts.ts";
import type { ListenerStats, ManagerStats, Published, Stats } from "./stats-model.ts";

/**
 * The admin path of the statistics that ebb counts, as text; `usedonly` leaves out those that were never written
 * (envoyproxy.io, operations/admin, /stats).
 */
export const statsPath = `/stats?usedonly&filter=${encodeURIComponent(
  "^(http|listener)\\..*downstream_(rq|cx)_active$|^listener\\..*\\.http\\..*\\.downstream_rq_completed$|^http\\..*\\.downstream_cx_drain_close$",
)}`;

/** The admin path of all listeners and the addresses that they are bound to, as JSON of a few lines each. */
export const boundListenersPath = "/listeners?format=json";

/** Parses the `name: number` lines of /stats. Leaves out all other lines, such as histograms and text readouts. */
export function parseStats(text: string): Stats {
  const stats = noStats();
  addTo(stats, text);
  return stats;
}

/**
 * The most bytes that are kept of statistics, which is enough for thirty thousand listeners; and what an entry takes
 * beside its name.
 */
const MOST_KEPT = 16 * 1024 * 1024;
const ENTRY = 200;

/**
 * Creates a parser of Envoy's statistics that come in pieces. `take` adds text of whole lines. `stats` returns what they say, or
 * undefined if they are not statistics or would take more than 16 MiB (MOST_KEPT).
 */
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
  readonly listeners: Map<string, Writable<ListenerStats> & { readonly managers: ManagerStats[] }>;
  readonly managers: Map<string, Writable<ManagerStats>>;
  /** How many bytes the entries take, about. */
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
 * Returns the part of a name between `start` and `end`. Empty if there is nothing between them, or the name lacks one
 * of them.
 */
function between(name: string, start: string, end: string): string {
  return name.startsWith(start) && name.endsWith(end) ? name.slice(start.length, -end.length) : "";
}

function listenerOf(stats: Reading, name: string) {
  return stats.listeners.get(name) ?? keep(stats, stats.listeners, name, { active: undefined, managers: [] });
}

function managerOf(stats: Reading, name: string): Writable<ManagerStats> {
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

/** Returns a copy of a text. A slice would keep in memory the whole text that it was cut from. */
function copied(text: string): string {
  return text.slice(0, 1) + text.slice(1);
}
