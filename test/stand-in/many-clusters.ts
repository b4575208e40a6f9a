import type { Answer } from "./envoy.ts";

/** What an Envoy with thousands of clusters and listeners answers, piece by piece. */
export interface Many {
  /** Undefined: it shows none. */
  readonly stats?: () => Iterator<string>;
  readonly clusters: () => Iterator<string>;
}

export function answersOf({ stats, clusters }: Many): Readonly<Record<string, Answer>> {
  return {
    "/stats": stats === undefined ? { body: "" } : { pieces: stats },
    "/clusters": { pieces: clusters },
    "/config_dump": { body: "{}" },
  };
}

/** What an older Envoy says of a cluster, which knows no filter. */
export function cluster(name: string, active: number): string {
  const hosts = [0, 1, 2].map((host) => `${name}::10.0.${host}.1:8080::`);
  const gauges = ["cx_active", "cx_connect_fail", "cx_total", "rq_error", "rq_success", "rq_timeout", "rq_total"];
  const rows = hosts.flatMap((host) => [...gauges.map((gauge) => `${host}${gauge}::7`), `${host}rq_active::${active}`]);
  return `${name}::observability_name::${name}\n${rows.map((row) => `${row}\n`).join("")}`;
}

/** What it says to `statsPath` of listeners with a manager each; the first has requests under way. */
export function* usedListeners(count: number, requests = 1): Generator<string> {
  for (let at = 0; at < count; at += 1) {
    const address = `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}_8080`;
    const [listener, manager] = [`listener.${address}`, `http.inbound_${address}`];
    yield `${listener}.downstream_cx_active: 1\n${listener}.http.inbound_${address}.downstream_rq_completed: 7\n`;
    yield `${manager}.downstream_cx_active: 1\n${manager}.downstream_cx_drain_close: 0\n`;
    yield `${manager}.downstream_rq_active: ${at === 0 ? requests : 0}\n`;
  }
}
