import type { Inbound } from "./inbound.ts";

/** The path of the inbound clusters alone, in text; an older Envoy, which knows no filter, shows all clusters. */
export function clustersPath({ clusters }: Inbound): string {
  return `/clusters?filter=${encodeURIComponent(`^(${clusters})`)}`;
}

/**
 * What the inbound clusters have under way to the app, from the text of /clusters, which no stats matcher thins out: requests,
 * and connections of raw TCP, which Envoy counts alike (source/common/conn_pool/conn_pool_base.cc). A cluster of type
 * ORIGINAL_DST has no hosts before its first traffic, and nothing under way. Undefined where there is no such cluster.
 */
export function countInbound(text: string, { clusters }: Inbound): number | undefined {
  const isInbound = new RegExp(`^(${clusters})`);
  let active: number | undefined;
  for (const [, name = "", count] of text.matchAll(/^(.+?)::(?:observability_name::.*|\S+::rq_active::(\d+))\r?$/gm)) {
    if (isInbound.test(name)) active = (active ?? 0) + Number(count ?? 0);
  }
  return active;
}
