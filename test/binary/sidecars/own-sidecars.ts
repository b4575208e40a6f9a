import type { InNetwork } from "./own-network.ts";

/** Returns the field `sidecars` of the log's line `ebb: found`; undefined without such a line. */
export function found({ log }: InNetwork): unknown {
  return log.find(({ msg }) => msg === "ebb: found")?.sidecars;
}
