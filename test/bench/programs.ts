import { join } from "node:path";
import { compiled } from "../harness/compiled.ts";

/** Returns the path of the executable of a C file in this folder. */
export function programPath(name: "latency" | "sidecar" | "stopwatch"): string {
  return compiled(join(import.meta.dirname, `${name}.c`));
}
