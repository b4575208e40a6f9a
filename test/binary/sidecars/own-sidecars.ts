import type { InNetwork } from "./own-network.ts";

export function found({ log }: InNetwork): unknown {
  return log.find(({ msg }) => msg === "ebb: found")?.sidecars;
}
