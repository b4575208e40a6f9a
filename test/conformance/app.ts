import { join } from "node:path";
import { compiled } from "../compiled.ts";

/** The application that the tools run in the cases. */
export function appPath(): string {
  return compiled(join(import.meta.dirname, "app.c"));
}

/** What starts a tool in its own way, where a case says so. */
export function launcherPath(): string {
  return compiled(join(import.meta.dirname, "random", "launch.c"));
}
