import fc from "fast-check";
import { type Action, deadlines, type RunPolicy } from "../../../../../src/pod/run/core/supervision-steps.ts";
import { forwarded } from "../../../../../src/shared/core/signal.ts";
import { type Entry, type Move, simulate, type World } from "./simulated-run.ts";

export const CHILD = 7;

export const signal = fc.constantFrom(...forwarded);

export const code = fc.constantFrom(0, 1, 3, 127, 143, 255);

export const policy: fc.Arbitrary<RunPolicy> = fc.record({
  quitOn: fc.constantFrom("always", "success", "never"),
  restartPolicy: fc.constantFrom(undefined, "Always", "OnFailure", "Never"),
  hasPeers: fc.boolean(),
  waitMs: fc.constantFrom(undefined, 0, 5000, Number.POSITIVE_INFINITY),
  onWaitTimeout: fc.constantFrom("fail", "start"),
  waitFailureCode: fc.constant(69),
  stopSignals: fc.constantFrom([15, 2], [3], [1, 40]),
  endsGroup: fc.boolean(),
  drains: fc.boolean(),
  graceMs: fc.constantFrom(undefined, 0, 5000),
  rewrite: fc.array(fc.tuple(signal, fc.oneof(signal, fc.constant(0)))).map((pairs) => new Map(pairs)),
  expectedCodes: fc.subarray([143, 3, 137]),
});

export const start: fc.Arbitrary<World["start"]> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ pid: fc.constant(CHILD), isStuck: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constantFrom({ exitCode: 127 }, { exitCode: 126 }) },
);

export const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 12, arbitrary: fc.constant({ kind: "read" } as const) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant("signal"), signal }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("signal"), signal, isEarly: fc.constant(true) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("signal"), signal: fc.constantFrom(15, 2), isTyped: fc.boolean() }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: "join" } as const) },
  { weight: 3, arbitrary: fc.constant({ kind: "become-ready" } as const) },
  { weight: 1, arbitrary: fc.constant({ kind: "fail-wait" } as const) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("end-child"), code }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("end-orphan"), pid: fc.constantFrom(8, 9) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant("run-out"), of: fc.constantFrom(...deadlines) }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: "end-drain" } as const) },
  { weight: 2, arbitrary: fc.constant({ kind: "end-group" } as const) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("decide"), isLast: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: "answer-quit" } as const) },
);

/** Checks a property of 1,000 runs, with any interleaving of what can happen: `holds` throws if it does not hold. */
export function always(holds: (world: World) => void): void {
  const moves = fc.array(move, { maxLength: 60, size: "max" });
  const property = fc.property(policy, start, moves, (policy, start, moves) => holds(simulate(policy, start, moves)));
  fc.assert(property, { numRuns: 1000 });
}

/** Returns the actions of one kind that were done in a run. */
export function actionsOf<K extends Action["kind"]>(
  { trace }: World,
  kind: K,
): readonly Extract<Action, { kind: K }>[] {
  const all = trace.flatMap(({ actions }) => actions);
  return all.filter((action): action is Extract<Action, { kind: K }> => action.kind === kind);
}

/** Returns the signals that were forwarded in answer to an event. */
export const forwards = ({ actions }: Entry): readonly number[] =>
  actions.flatMap((action) => (action.kind === "forward" ? [action.signal] : []));

/** Reports whether an action of that kind answered an event. */
export const has = ({ actions }: Entry, kind: Action["kind"]): boolean =>
  actions.some((action) => action.kind === kind);

/** Reports whether a signal, as it came or as it is forwarded, asks the child to stop. */
export function stops(signal: number, { rewrite, stopSignals }: RunPolicy): boolean {
  const sent = rewrite.get(signal) ?? signal;
  return sent !== 0 && (stopSignals.includes(signal) || stopSignals.includes(sent));
}

/** Reports whether a signal is a repeat of the one that a drain under way holds. */
export function isRepeat({ event, before }: Entry, policy: RunPolicy): boolean {
  if (event?.kind !== "signal" || before?.phase !== "running" || typeof before.draining === "string") return false;
  const sent = policy.rewrite.get(event.signal) ?? event.signal;
  return stops(event.signal, policy) && sent === before.draining && event.isTyped !== true;
}
