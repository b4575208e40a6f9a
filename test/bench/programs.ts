import { join } from "node:path";
import { compiled } from "../compiled.ts";

/** The executable of a C file of this folder. */
export function programPath(name: "latency" | "sidecar" | "stopwatch"): string {
  return compiled(join(import.meta.dirname, `${name}.c`));
}
