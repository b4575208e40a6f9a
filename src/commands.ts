import type { CommandEntry } from "./command.ts";
import * as run from "./commands/run.ts";

/** Every command; loaded only when it is the one, but for `run`: what nearly every pod starts with is there at once. */
export const commands: Readonly<Record<string, CommandEntry>> = {
  run: {
    summary: "wait for the sidecars, run a command, quit the sidecars, exit with its code (the default)",
    load: async () => run,
  },
  wait: {
    summary: "wait until sidecars and targets are ready; then become a command, if one is given",
    load: () => import("./commands/wait.ts"),
  },
  sleep: {
    summary: "do nothing for a while (for preStop hooks)",
    load: () => import("./commands/sleep.ts"),
  },
  quit: {
    summary: "tell the sidecars to quit, and say what each answered",
    load: () => import("./commands/quit.ts"),
  },
  config: {
    summary: "show each option's value and where it came from",
    load: () => import("./commands/config.ts"),
  },
};
