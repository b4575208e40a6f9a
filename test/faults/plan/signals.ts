import { endsWait, SIG } from "../../../src/shared/core/signal.ts";
import type { Random } from "../../harness/random.ts";
import { planEnd } from "./app.ts";
import type { AppPlan, CommandName, Cue, Flags, SignalPlan } from "./planned.ts";

/** The signals that ask an app to stop: they begin the drain and the grace. */
export const stops: readonly number[] = [SIG.INT, SIG.TERM];

/** The signals that are only forwarded to an app, HUP as for a reload; but QUIT ends a wait. */
export const others: readonly number[] = [
  ...[
    SIG.HUP,
    SIG.QUIT,
    SIG.USR1,
    SIG.USR2,
    SIG.PIPE,
    SIG.ALRM,
    SIG.STKFLT,
    SIG.CONT,
    SIG.TSTP,
    SIG.URG,
    SIG.XCPU,
    SIG.XFSZ,
    SIG.VTALRM,
  ],
  ...[SIG.PROF, SIG.WINCH, SIG.IO, 35, 36, 40, 50, 63, 64],
];

interface About {
  readonly command: CommandName;
  readonly flags: Flags;
  readonly app: AppPlan;
  readonly isReadyEver: boolean;
}

interface Planned {
  /** All steps of the application, with its end. */
  readonly steps: readonly string[];
  readonly signals: readonly SignalPlan[];
  readonly blocked?: readonly number[];
}

/** Plans which signals ebb gets and when, and what the application does with them. */
export function planSignals(random: Random, about: About): Planned {
  const { command, app } = about;
  if (app.kind !== "steps" || command === "wait")
    return { steps: [...app.steps, ...planEnd(random)], signals: before(random) };
  const theme = random.weigh(
    [40, "none"],
    [26, "noted"],
    [8, "stopped"],
    [8, "killed"],
    [8, "early"],
    [5, "paused"],
    [8, "held"],
    [5, "graceless"],
  );
  switch (theme) {
    case "none":
      return { steps: [...app.steps, ...planEnd(random)], signals: [] };
    case "noted":
      return noted(random, about);
    case "stopped":
      return stopped(random, about);
    case "killed":
      return {
        steps: [...app.steps, "hold"],
        signals: [signal(random, "app", random.pick([...stops, SIG.HUP, SIG.QUIT, SIG.USR1, 40]))],
      };
    case "early":
      return { steps: [...app.steps, ...planEnd(random)], signals: before(random) };
    case "held":
      return held(random, about);
    case "paused": {
      const wake: SignalPlan = { cue: "pausing", afterMs: random.int(20, 120), signal: SIG.CONT };
      return { steps: ["note", ...app.steps, "pause", ...planEnd(random)], signals: [wake] };
    }
    case "graceless": {
      const sent = random.pick(stops);
      const isKilled = about.flags.graceMs !== undefined && stops.includes(rewritten(sent, about.flags));
      return { steps: ["note", ...app.steps, isKilled ? "hold" : "exit:5"], signals: [signal(random, "noting", sent)] };
    }
  }
}

/** Plans signals to an application that ends once all of them have come. */
function noted(random: Random, { app, flags }: About): Planned {
  const set = random.some([...others, ...others, ...stops], random.weigh([50, 1], [30, 3], [20, 12]));
  // the kernel drops a stop that waits when a CONT comes (signal(7)), and the other way round
  const isBoth = set.includes(SIG.CONT) && set.includes(SIG.TSTP);
  const different = [...new Set(set)].filter((number) => !(isBoth && number === SIG.TSTP));
  const isStorm = random.chance(0.4);
  const signals = different.map((number) => signal(random, "noting", number, isStorm ? 0 : random.int(0, 150)));
  if (flags.drainMs > 0 && random.chance(0.7)) {
    const stop = random.pick(stops);
    signals.unshift(signal(random, "noting", stop, 0));
    different.push(stop);
  }
  const awaited = new Set(different.map((number) => rewritten(number, flags)).filter((number) => number !== 0));
  const steps = [...(random.chance(0.5) ? ["note", ...app.steps] : [...app.steps, "note"])];
  return { steps: [...steps, `await:${[...awaited].join(",")}`, ...planEnd(random)], signals };
}

/**
 * Plans signals that come before the application is ready for them, most while ebb waits; it gets all of them later.
 */
function held(random: Random, { app, flags }: About): Planned {
  const blocked = others.filter((number) => number !== SIG.TSTP && !endsWait(number));
  const early = random.some(blocked, random.int(1, 12));
  const signals = early.map((number) => signal(random, "ebb", number, random.int(0, 60)));
  const awaited = new Set(early.map((number) => rewritten(number, flags)).filter((number) => number !== 0));
  return { steps: [...app.steps, "note", `await:${[...awaited].join(",")}`, ...planEnd(random)], signals, blocked };
}

/** Plans an application that ends some time after it was told to stop; sometimes it is told twice. */
function stopped(random: Random, { app, flags }: About): Planned {
  const first = random.pick(stops);
  const signals = [signal(random, "noting", first)];
  if (random.chance(0.4)) signals.push({ cue: "noting", afterMs: random.int(100, 500), signal: random.pick(stops) });
  if (random.chance(0.3))
    signals.push({
      cue: random.pick(["quit", "exit", "drain"]),
      afterMs: random.int(0, 30),
      signal: random.pick([...stops, ...others]),
    });
  const isHeard = signals.some(({ signal }) => stops.includes(rewritten(signal, flags)));
  const wait = isHeard ? "stop" : `sleep:${random.int(1, 200)}`;
  return { steps: ["note", ...app.steps, wait, `sleep:${random.int(0, 100)}`, ...planEnd(random)], signals };
}

/** The signals that matter most as long as there is no app. */
const early: readonly number[] = [...stops, SIG.QUIT, SIG.HUP];

/**
 * Reports whether a signal may come too early: TSTP would stop an app without a handler, and nobody would continue it.
 */
function ends(number: number): boolean {
  return number !== SIG.TSTP;
}

/** Plans signals that come while ebb starts, waits, drains or quits; none in six of ten plans. */
function before(random: Random): readonly SignalPlan[] {
  if (random.chance(0.6)) return [];
  const count = random.weigh([70, 1], [20, 2], [10, 5]);
  return Array.from({ length: count }, () => {
    const cue = random.weigh<Cue>([80, "ebb"], [10, "drain"], [10, "quit"]);
    return signal(random, cue, random.pick(random.chance(0.5) ? early : others.filter(ends)), random.int(0, 250));
  });
}

function signal(random: Random, cue: Cue, number: number, afterMs = random.int(0, 150)): SignalPlan {
  return { cue, afterMs, signal: number };
}

/** Returns the signal that --rewrite-signal makes of a signal: 0 if it is dropped. */
export function rewritten(signal: number, { rewrite }: Pick<Flags, "rewrite">): number {
  const found = rewrite.findLast(([from]) => from === signal);
  return found === undefined ? signal : found[1];
}
