import { expect, test } from "bun:test";
import fc from "fast-check";
import { beginAttempt, stepAttempt } from "../../../../src/core/reap/attempt.ts";
import type { Event } from "../../../../src/core/reap/attempt-steps.ts";
import { always, observation, policy, turn } from "./generated-attempts.ts";

test("a stop ends it at once, with nothing left under way", () => {
  always(({ trace }) => {
    const at = trace.findIndex(({ event }) => event?.kind === "stop");
    const { before, actions } = trace[at] ?? {};
    if (before === undefined || before.phase === "over") return;
    expect(actions?.at(-1)).toEqual({ kind: "end", outcome: { kind: "stopped" } });
    const isUnderWay = before.phase === "looking" || before.phase === "acting";
    expect(actions?.some(({ kind }) => kind === "abort")).toBe(isUnderWay);
  });
});

test("at each moment one thing is under way, and no deadline outlives its phase", () => {
  const own = { looking: ["answer"], acting: ["answer"], watching: ["patience"], resting: ["rest"], over: [] } as const;
  always(({ trace }) => {
    const armed = new Set<string>();
    for (const { event, actions, after } of trace) {
      if (event?.kind === "deadline") armed.delete(event.of);
      for (const action of actions) {
        if (action.kind === "disarm") expect(armed.delete(action.deadline)).toBe(true);
        if (action.kind === "arm") armed.add(action.deadline);
      }
      expect([...armed]).toEqual([...own[after.phase]]);
    }
  });
});

const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  fc.record({ kind: fc.constant("looked"), turn, observation }),
  fc.record({ kind: fc.constant("look-failed"), turn, why: fc.constant("x") }),
  fc.record({
    kind: fc.constant("acted"),
    turn,
    result: fc.constantFrom(
      { kind: "taken" } as const,
      { kind: "refused", why: "x" } as const,
      { kind: "unavailable", why: "x" } as const,
    ),
  }),
  fc.record({ kind: fc.constant("changed"), observation }),
  fc.record({ kind: fc.constant("deadline"), of: fc.constantFrom("answer", "patience", "rest") }),
);

test("whatever comes in whatever order: one end at most, a stop always is one, and no state is changed in place", () => {
  fc.assert(
    fc.property(policy, fc.array(anyEvent, { maxLength: 60 }), (policy, events) => {
      let [state] = beginAttempt(policy);
      let ends = 0;
      for (const event of [...events, { kind: "stop" } as const]) {
        const copy = structuredClone(state);
        const [next, actions] = stepAttempt(state, event, policy);
        expect(state).toEqual(copy);
        ends += actions.filter(({ kind }) => kind === "end").length;
        state = next;
      }
      expect([state.phase, ends]).toEqual(["over", 1]);
    }),
    { numRuns: 1000 },
  );
});
