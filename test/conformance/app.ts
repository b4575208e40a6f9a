import { join } from "node:path";
import { compiled } from "../harness/compiled.ts";

/** Returns the path of the application that the tools run in the cases; compiles it if needed. */
export function appPath(): string {
  return compiled(join(import.meta.dirname, "app.c"));
}
