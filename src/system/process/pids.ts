// Apart from processes.ts, which knows the options of ebb: the bundles that only kill need none of that.

/** Returns the PIDs in /proc, in its order; empty if /proc is not mounted or cannot be read. */
export function allPids(): readonly number[] {
  const { readdirSync } = require("node:fs") as typeof import("node:fs"); // costs 0.9 ms that few need
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}
