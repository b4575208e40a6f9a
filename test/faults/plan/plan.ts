import { planApp } from "./app.ts";
import { planProxy } from "./proxy.ts";
import { type Random, randomOf } from "./random.ts";
import { planSignals } from "./signals.ts";

export type CommandName = "run" | "wait" | "drain" | "quit";

/** What the proxy does with one request. `hang`: it reads, and never answers. `die`: nobody listens any more from then on. */
export type Answer =
  | { readonly kind: "ok"; readonly form: "length" | "chunks" | "close"; readonly delayMs: number }
  /** A good answer, byte by byte. */
  | { readonly kind: "drip"; readonly ms: number }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "hang" | "reset" | "close" | "half" | "garbage" | "endless" | "die" }
  | { readonly kind: "ok, then die"; readonly delayMs: number };

/** From this moment, in milliseconds since ebb was started; of several answers, each in turn. */
export interface Phase {
  readonly fromMs: number;
  readonly answers: readonly Answer[];
}

/** `deaf`: connections wait in vain to be accepted, as many as fit; others are not even opened. */
export interface Door {
  readonly fromMs: number;
  readonly state: "open" | "closed" | "deaf";
}

export type Endpoint = "ready" | "fail" | "drain" | "stats" | "dump" | "quit";

export interface ProxyPlan {
  readonly doors: readonly Door[];
  readonly endpoints: Readonly<Record<Endpoint, readonly Phase[]>>;
  /** Requests in flight, from these moments on. */
  readonly inFlight: readonly { readonly fromMs: number; readonly count: number }[];
}

export interface AppPlan {
  readonly kind: "steps" | "not found" | "not executable" | "none";
  /** Words of app.c. */
  readonly steps: readonly string[];
}

/** What a signal waits for. `app`: the app is there; `noting`: it notes signals; the others: the first such request, the app's last word. */
export type Cue = "ebb" | "app" | "noting" | "drain" | "quit" | "exit" | "pausing";

export interface SignalPlan {
  readonly cue: Cue;
  readonly afterMs: number;
  readonly signal: number;
}

export interface Flags {
  readonly waitMs: number;
  readonly onWaitTimeout: "fail" | "start";
  readonly noWait: boolean;
  readonly quitOn: "always" | "success" | "never";
  readonly restartPolicy: "Always" | "OnFailure" | "Never" | undefined;
  readonly quitMs: number;
  readonly drainMs: number;
  readonly minDrainMs: number;
  readonly idle: number;
  readonly graceMs: number | undefined;
  readonly isGroup: boolean;
  readonly rewrite: readonly (readonly [from: number, to: number])[];
  readonly expectExit: readonly number[];
  readonly logLevel: "info" | "debug";
  /** `drain --quit`. */
  readonly thenQuit: boolean;
}

export interface Plan {
  readonly seed: number;
  readonly command: CommandName;
  readonly isPid1: boolean;
  readonly sidecar: "envoy" | "istio" | "linkerd" | "custom" | "auto";
  readonly isUnix: boolean;
  /** By the pod's annotations: it is waited for and drained, never quit. */
  readonly isNative: boolean;
  readonly proxy: ProxyPlan;
  readonly flags: Flags;
  readonly app: AppPlan;
  readonly signals: readonly SignalPlan[];
  /** Signals that ebb is started with blocked: its child is too, so that what comes too early waits for it. */
  readonly blocked: readonly number[];
}

/** All that happens in one run, by chance from its seed alone. */
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
    idle: random.chance(0.2) ? random.int(1, 3) : 0,
    graceMs: command === "run" && random.chance(0.15) ? random.int(50, 400) : undefined,
    isGroup: command === "run" && random.chance(0.2),
    rewrite: command === "run" && random.chance(0.15) ? [random.pick(rewrites)] : [],
    expectExit: [],
    logLevel: random.chance(0.15) ? "debug" : "info",
    thenQuit: command === "drain" && random.chance(0.5),
  };
}

/** Mostly what will come. */
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
