import type { Random } from "../../harness/random.ts";
import type { AppPlan, CommandName, Flags } from "./planned.ts";

interface About {
  readonly command: CommandName;
  readonly flags: Flags;
}

/** Plans what the application does until it waits for signals, if it does; planSignals adds its end. */
export function planApp(random: Random, { command }: About): AppPlan {
  if (command === "drain" || command === "quit" || (command === "wait" && random.chance(0.5))) {
    return { kind: "none", steps: [] };
  }
  const kind = random.weigh([90, "steps"], [5, "not found"], [5, "not executable"] as const);
  if (kind !== "steps") return { kind, steps: [] };
  const steps: string[] = [];
  if (random.chance(0.3)) steps.push(`say:${random.pick(["hello", "{}", "x".repeat(60)])}`);
  if (command === "run" && random.chance(0.15))
    steps.push(`orphans:${random.int(1, 12)}:${random.int(0, 80)}`, "reaped");
  if (command === "run" && random.chance(0.1)) steps.push(`orphans:${random.int(1, 4)}:${random.int(0, 80)}`);
  if (command === "run" && random.chance(0.07)) steps.push("daemon");
  if (random.chance(0.1)) steps.push("close");
  if (random.chance(0.4)) steps.push(`sleep:${random.int(1, 250)}`);
  return { kind, steps };
}

/** Plans the end of an application that nobody tells to end: a code, or a signal to itself. */
export function planEnd(random: Random): readonly string[] {
  return random.weigh<readonly string[]>(
    [70, [`exit:${random.weigh([40, 0], [20, 1], [40, random.int(2, 255)])}`]],
    [30, [`raise:${random.pick([1, 2, 3, 6, 9, 10, 11, 13, 14, 15, 31, 40])}`]],
  );
}
