import type { Inbound } from "../../../shared/sidecars/core/inbound.ts";

/**
 * Returns the admin path that lists only the inbound clusters, as text. An older Envoy ignores the filter and lists all
 * clusters.
 */
export function clustersPath({ clusters }: Inbound): string {
  return `/clusters?filter=${encodeURIComponent(`^(${clusters})`)}`;
}

/**
 * Counts the requests and raw TCP connections in flight from the inbound clusters to the app: the sum of `rq_active`
 * over their hosts in the text of /clusters. Returns undefined if the text has no inbound cluster.
 *
 * Stats matchers do not thin out /clusters. Envoy counts a raw TCP connection as a request
 * (source/common/conn_pool/conn_pool_base.cc). A cluster of type ORIGINAL_DST has no hosts before its first traffic: it
 * counts as 0.
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
 * Yields the lines that contain `part`. To search the whole text is the fastest way to find a few lines among hundreds
 * of thousands.
 */
function* linesWith(text: string, part: string): Generator<string> {
  for (let at = text.indexOf(part); at >= 0; ) {
    const found = text.indexOf("\n", at);
    const end = found < 0 ? text.length : found;
    yield text.slice(text.lastIndexOf("\n", at) + 1, end);
    at = text.indexOf(part, end);
  }
}

/** How many characters are kept of a line whose end has not come. No line that is counted is longer. */
export const LONGEST_LINE = 64 * 1024;

/**
 * Creates a `countInbound` for text that comes in pieces, of which it keeps no more than `LONGEST_LINE` characters: a
 * longer line is dropped. `take` takes the next piece, `end` the end of the text, and returns the count.
 */
export function createInboundCount(inbound: Inbound) {
  let active: number | undefined;
  let begun = "";
  let isTooLong = false;
  const count = (lines: string): void => {
    const more = countInbound(lines, inbound);
    if (more !== undefined) active = (active ?? 0) + more;
  };
  return {
    take(piece: string): void {
      const start = isTooLong ? piece.indexOf("\n") + 1 : 0;
      const end = piece.lastIndexOf("\n") + 1;
      if (end > 0) {
        isTooLong = false;
        if (end > start) count(begun + piece.slice(start, end));
        begun = "";
      }
      if (isTooLong) return;
      begun += piece.slice(end);
      isTooLong = begun.length > LONGEST_LINE;
      if (isTooLong) begun = "";
    },
    end(): number | undefined {
      count(begun);
      return active;
    },
  };
}
