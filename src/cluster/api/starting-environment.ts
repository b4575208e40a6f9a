import type { Environment } from "../../shared/core/environment.ts";
import { readIfThere } from "../../shared/io/file.ts";

/**
 * Returns the environment that ebb was started with, from /proc/self/environ. `process.env`, which is returned if that
 * cannot be read, lacks the variables that would change Bun (native/before-bun.c).
 */
export function startingEnvironment(): Environment {
  const text = readIfThere("/proc/self/environ");
  if (text === undefined) return process.env;
  const entries = text.split("\0").filter((entry) => entry.indexOf("=") > 0);
  return Object.fromEntries(entries.map((entry) => [before(entry), entry.slice(entry.indexOf("=") + 1)]));
}

function before(entry: string): string {
  return entry.slice(0, entry.indexOf("="));
}
