import type { Answer } from "./envoy.ts";

/** The answers of an Envoy with thousands of clusters and listeners, piece by piece. */
export interface Many {
  /** Creates the pieces of /stats; undefined if it shows no statistics. */
  readonly stats?: () => Iterator<string>;
  /** Creates the pieces of /clusters. */
  readonly clusters: () => Iterator<string>;
}

/** Returns the answers, by path, for a stand-in that is such an Envoy. */
export function answersOf({ stats, clusters }: Many): Readonly<Record<string, Answer>> {
  return {
    "/stats": stats === undefined ? { body: "" } : { pieces: stats },
    "/clusters": { pieces: clusters },
    "/config_dump": { body: "{}" },
  };
}

/** Returns what /clusters of an older Envoy, which ignores the filter, says of a cluster with three hosts. */
export function cluster(name: string, active: number): string {
  const hosts = [0, 1, 2].map((host) => `${name}::10.0.${host}.1:8080::`);
  const gauges = ["cx_active", "cx_connect_fail", "cx_total", "rq_error", "rq_success", "rq_timeout", "rq_total"];
  const rows = hosts.flatMap((host) => [...gauges.map((gauge) => `${host}${gauge}::7`), `${host}rq_active::${active}`]);
  return `${name}::observability_name::${name}\n${rows.map((row) => `${row}\n`).join("")}`;
}

/**
 * Yields what /stats says, asked by `statsPath`, of `count` listeners, each with a connection manager and a connection.
 * The first has `requests` under way.
 */
export function* usedListeners(count: number, requests = 1): Generator<string> {
  for (let at = 0; at < count; at += 1) {
    const address = `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}_8080`;
    const [listener, manager] = [`listener.${address}`, `http.inbound_${address}`];
    yield `${listener}.downstream_cx_active: 1\n${listener}.http.inbound_${address}.downstream_rq_completed: 7\n`;
    yield `${manager}.downstream_cx_active: 1\n${manager}.downstream_cx_drain_close: 0\n`;
    yield `${manager}.downstream_rq_active: ${at === 0 ? requests : 0}\n`;
  }
}
