import type { Inbound } from "./inbound.ts";

/** Returns the admin path of the inbound clusters alone, as text. An older Envoy, which knows no filter, shows all clusters. */
export function clustersPath({ clusters }: Inbound): string {
  return `/clusters?filter=${encodeURIComponent(`^(${clusters})`)}`;
}

/**
 * Counts the requests and raw TCP connections that the inbound clusters have under way to the app, from the text of /clusters.
 * Undefined where there is no such cluster.
 *
 * No stats matcher thins out /clusters. Envoy counts requests and raw TCP alike (source/common/conn_pool/conn_pool_base.cc). A
 * cluster of type ORIGINAL_DST has no hosts before its first traffic, and nothing under way.
 */
export function countInbound(text: string, { clusters }: Inbound): number | undefined {
  const isInbound = new RegExp(`^(${clusters})`);
  let active: number | undefined;
  const add = (line: string, count: string): void => {
    if (isInbound.test(line.slice(0, line.indexOf("::", 1)))) active = (active ?? 0) + Number(count);
  };
  for (const line of linesWith(text, "::observability_name::")) add(line, "0");
  for (const line of linesWith(text, "::rq_active::")) {
    const count = /::rq_active::(\d{1,15})\r?$/.exec(line)?.[1];
    if (count !== undefined) add(line, count);
  }
  return active;
}

/**
 * Yields the lines that contain `part`. Searching the whole text is the fastest way to find a few among hundreds of thousands.
 */
function* linesWith(text: string, part: string): Generator<string> {
  for (let at = text.indexOf(part); at >= 0; ) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    yield text.slice(text.lastIndexOf("\n", at) + 1, end);
    at = text.indexOf(part, end);
  }
}

/** Creates a `countInbound` for an answer that comes in pieces; the text is not kept. */
export function createInboundCount(inbound: Inbound) {
  let active: number | undefined;
  return {
    take(lines: string): void {
      const more = countInbound(lines, inbound);
      if (more !== undefined) active = (active ?? 0) + more;
    },
    active: () => active,
  };
}
