import { test } from "bun:test";
import { begin, step } from "../../../../../src/pod/run/core/supervision.ts";
import type { Action, Deadline, Event, RunPolicy, State } from "../../../../../src/pod/run/core/supervision-steps.ts";
import { SIG } from "../../../../../src/shared/core/signal.ts";
import { expectLife } from "./machine.ts";

export const usual: RunPolicy = {
  quitOn: "always",
  restartPolicy: undefined,
  hasPeers: false,
  waitMs: 300_000,
  onWaitTimeout: "fail",
  waitFailureCode: 69,
  stopSignals: [SIG.TERM, SIG.INT],
  endsGroup: false,
  drains: false,
  graceMs: undefined,
  rewrite: new Map(),
  expectedCodes: [],
};

/**
 * A life by its steps, `EVENT` or `EVENT: ACTIONS`, as `eventOf` reads and `tell` writes them. It begins with the usual
 * wait, unless the first step is `begin: ACTIONS`. `starts` is that the wait ends, `runs` is that and the start.
 */
type Life = readonly [title: string, steps: string, policy?: Partial<RunPolicy>];

/** Declares a test for each life. */
export function testLives(common: Partial<RunPolicy>, lives: readonly Life[]): void {
  const rows = lives.map(([title, steps, policy]) => [title, steps, { ...usual, ...common, ...policy }] as const);
  test.each(rows)("%s", (_, steps, policy) => {
    const spelt = steps.replace("runs", "starts; started").replace("starts", "ready: disarm wait, start");
    const machine = { begin: () => begin(policy), step: (state: State, event: Event) => step(state, event, policy) };
    expectLife(machine, steps.startsWith("begin: ") ? spelt : `begin: arm wait 300000, wait; ${spelt}`, eventOf, tell);
  });
}

/**
 * Reads `ready`, `wait over`, `exit 3`, `exit 3 of 8` (another process than the child), `killed 9`, `early TERM`,
 * `typed INT` (at a terminal).
 */
export function eventOf(text: string): Event {
  if (text.startsWith("decided")) return { kind: "decided", stay: text === "decided" ? undefined : text.slice(8) };
  const [first = "", second = "", , pid = 7] = text.split(" ");
  if (second === "over") return { kind: "deadline", of: first as Deadline };
  if (first === "exit") return { kind: "reaped", pid: Number(pid), exit: { code: Number(second) } };
  if (first === "killed") return { kind: "reaped", pid: Number(pid), exit: { signal: Number(second) } };
  if (first === "early") return { kind: "signal", signal: numberOf(second), isEarly: true };
  if (first === "typed") return { kind: "signal", signal: numberOf(second), isTyped: true };
  if (first === "ignored") return { kind: "signal", signal: numberOf(second), wasIgnored: true };
  return plain.find(({ kind }) => kind === text) ?? { kind: "signal", signal: numberOf(text) };
}

const plain: readonly Event[] = [
  ...(["joined", "ready", "drained", "group-gone", "quit-done"] as const).map((kind) => ({ kind })),
  { kind: "started", pid: 7 },
  { kind: "wait-failed", exitCode: 70 },
  { kind: "start-failed", exitCode: 127 },
];

function numberOf(name: string): number {
  const number = SIG[name as keyof typeof SIG];
  if (number === undefined) throw new Error(`neither an event nor a signal: ${name}`);
  return number;
}

/** Writes actions as text: `forward 15, arm grace 5000`. */
function tell(actions: readonly Action[]): string {
  return actions.map(({ kind, ...rest }) => [kind, ...Object.values(rest)].join(" ")).join(", ");
}

export const { HUP, INT, QUIT, USR1, USR2, TERM } = SIG;
