import { type Random, randomOf } from "../../harness/random.ts";
import { planApp } from "./app.ts";
import type { CommandName, Flags, Plan } from "./planned.ts";
import { planProxy } from "./proxy.ts";
import { planSignals } from "./signals.ts";

/** Plans all that happens in a run; the same seed gives the same plan. */
export function planOf(seed: number): Plan {
  const random = randomOf(seed);
  const command = random.weigh([70, "run"], [12, "drain"], [9, "quit"], [9, "wait"]);
  const drains = command === "drain" || (command === "run" && random.chance(0.2));
  const { proxy, waitMs, isReadyEver } = planProxy(random, { command, drains });
  const flags = planFlags(random, { command, drains, waitMs });
  const app = planApp(random, { command, flags });
  const { steps, signals, blocked = [] } = planSignals(random, { command, flags, app, isReadyEver });
  const sidecar = planSidecar(random, command, drains);
  const isUnix = random.chance(0.1);
  return {
    seed,
    command,
    isPid1: command === "run" && random.chance(0.1),
    sidecar,
    isUnix,
    isNative: sidecar === "istio" && !isUnix && random.chance(0.3),
    proxy,
    flags: { ...flags, expectExit: planExpected(random, command, steps) },
    app: { ...app, steps },
    signals,
    blocked,
  };
}

function planSidecar(random: Random, command: CommandName, drains: boolean): Plan["sidecar"] {
  if (drains) return random.weigh([60, "envoy"], [20, "istio"], [20, "auto"]);
  if (command === "wait") return random.weigh([50, "envoy"], [20, "auto"], [30, "custom"]);
  return random.weigh([50, "envoy"], [12, "istio"], [10, "linkerd"], [13, "custom"], [15, "auto"]);
}

interface About {
  readonly command: CommandName;
  readonly drains: boolean;
  readonly waitMs: number;
}

function planFlags(random: Random, { command, drains, waitMs }: About): Flags {
  const drainMs = drains ? random.int(300, 1600) : 0;
  return {
    waitMs,
    onWaitTimeout: random.chance(0.3) ? "start" : "fail",
    noWait: command === "run" && random.chance(0.06),
    quitOn: random.weigh([80, "always"], [12, "success"], [8, "never"]),
    restartPolicy: random.weigh([80, undefined], [7, "Always"], [7, "OnFailure"], [6, "Never"]),
    quitMs: random.int(150, 700),
    drainMs,
    minDrainMs: drains ? random.int(0, 400) : 0,
    maxInFlight: random.chance(0.2) ? random.int(1, 3) : 0,
    graceMs: command === "run" && random.chance(0.15) ? random.int(50, 400) : undefined,
    isGroup: command === "run" && random.chance(0.2),
    rewrite: command === "run" && random.chance(0.15) ? [random.pick(rewrites)] : [],
    expectExit: [],
    logLevel: random.chance(0.15) ? "debug" : "info",
    thenQuit: command === "drain" && random.chance(0.5),
  };
}

/** Plans --expect-exit: mostly the code that will come. */
function planExpected(random: Random, command: CommandName, steps: readonly string[]): readonly number[] {
  if (command !== "run" || random.chance(0.8)) return [];
  const [, word, code = ""] = /^(exit|raise):(\d+)$/.exec(steps.at(-1) ?? "") ?? [];
  if (word === undefined || random.chance(0.3)) return [random.pick([0, 1, 3, 137, 143, 255])];
  return [Number(code) + (word === "raise" ? 128 : 0), random.int(0, 255)];
}

const rewrites: Flags["rewrite"] = [
  [15, 3],
  [15, 10],
  [10, 15],
  [28, 0],
  [2, 15],
  [12, 40],
  [1, 15],
  [1, 0],
  [3, 15],
];
