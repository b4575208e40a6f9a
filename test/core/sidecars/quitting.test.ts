import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  begin,
  type QuitAction,
  type QuitEvent,
  type QuitMachinePolicy,
  type QuitState,
  type Result,
  step,
} from "../../../src/core/sidecars/quitting.ts";

const envoy: QuitMachinePolicy = {
  name: "envoy",
  closesFirst: false,
  hasFallback: false,
  mustNotRepeat: false,
  wasReady: true,
  hasLastResort: false,
};
const custom: QuitMachinePolicy = { ...envoy, name: "custom" };
const agent: QuitMachinePolicy = { ...envoy, name: "istio", hasLastResort: true };

const answered = (status: number): QuitEvent => ({ kind: "answered", status });
const failed = (why: "refused" | "unreachable" | "late" | "broken"): QuitEvent => ({
  kind: "failed",
  why,
  message: why,
});
const rested: QuitEvent = { kind: "rested" };
const gone: QuitEvent = { kind: "gone" };
const half: QuitEvent = { kind: "half" };
const bound = (askedMs = 5000): QuitEvent => ({ kind: "bound", askedMs });
const searched = (isFound: boolean): QuitEvent => ({ kind: "searched", isFound, askedMs: 2500 });

interface Played {
  readonly actions: readonly string[];
  readonly result: Result | undefined;
}

function play(policy: QuitMachinePolicy, events: readonly QuitEvent[]): Played {
  let [state, actions] = begin();
  const all: QuitAction[] = [...actions];
  for (const event of events) {
    [state, actions] = step(state, event, policy);
    all.push(...actions);
  }
  const words = all.map((action) => (action.kind === "rest" ? `rest ${Math.round(action.ms)}` : action.kind));
  return { actions: words, result: state.phase === "over" ? state.result : undefined };
}

describe("a quit", () => {
  test.each<[string, QuitMachinePolicy, readonly QuitEvent[], readonly string[], Partial<Result>]>([
    ["is taken, and the sidecar goes", envoy, [answered(200), gone], ["ask", "watch"], { ok: true, outcome: "exited" }],
    [
      "is taken, and the sidecar stays",
      envoy,
      [answered(200), half, bound()],
      ["ask", "watch"],
      { ok: false, isTaken: true, outcome: "answered, but still runs" },
    ],
    [
      "of another program is done when it is answered",
      custom,
      [answered(204)],
      ["ask"],
      { ok: true, isTaken: true, outcome: "answered", status: 204 },
    ],
    [
      "that is taken has nothing signalled",
      agent,
      [answered(200), half, searched(true), bound()],
      ["ask", "watch"],
      { isTaken: true },
    ],
    ["that is refused is not repeated", envoy, [answered(404)], ["ask"], { ok: false, isTaken: false, status: 404 }],
    [
      "that is answered with 500 is repeated twice",
      custom,
      [answered(500), rested, answered(503), rested, answered(500)],
      ["ask", "rest 200", "ask", "rest 1000", "ask"],
      { ok: false, outcome: "HTTP 500", status: 500 },
    ],
    [
      "that is cut off is repeated twice",
      custom,
      [failed("broken"), rested, failed("broken"), rested, failed("broken")],
      ["ask", "rest 200", "ask", "rest 1000", "ask"],
      { ok: false, outcome: "broken" },
    ],
    [
      "that was its end is taken",
      { ...envoy, wasReady: false },
      [failed("broken"), rested, failed("refused"), rested, failed("refused"), rested, failed("refused")],
      ["ask", "rest 200", "ask", "rest 10", "ask", "rest 15", "ask"],
      { ok: true, isTaken: true, outcome: "exited" },
    ],
    [
      "where nobody listens any more: a program that was there is gone",
      custom,
      [failed("refused"), rested, failed("refused"), rested, failed("refused")],
      ["ask", "rest 10", "ask", "rest 15", "ask"],
      { ok: true, outcome: "had exited already" },
    ],
    [
      "where nobody listens any more: a sidecar's readiness tells",
      agent,
      [failed("refused"), rested, failed("refused"), rested, failed("refused"), { kind: "looked", life: "leaving" }],
      ["ask", "rest 10", "ask", "rest 15", "ask", "look"],
      { ok: true, isTaken: true, outcome: "was exiting already" },
    ],
    ["that hangs", envoy, [half, bound()], ["ask"], { ok: false, isTaken: false, outcome: "no answer in time" }],
    [
      "that hangs, and there is nothing to signal",
      agent,
      [half, searched(false), answered(200), gone],
      ["ask", "search", "watch"],
      { ok: true, outcome: "exited" },
    ],
    [
      "that hangs, and pilot-agent is there",
      agent,
      [half, searched(true)],
      ["ask", "search"],
      { ok: false, isTaken: false, outcome: "no answer in time" },
    ],
    [
      "that has only just been repeated",
      { ...envoy, wasReady: false },
      [failed("unreachable"), rested, bound(99)],
      ["ask", "rest 10", "ask"],
      { outcome: "unreachable" },
    ],
    [
      "that must not be repeated, cut off",
      { ...envoy, mustNotRepeat: true },
      [failed("broken"), gone],
      ["ask", "watch"],
      { ok: true, outcome: "exited" },
    ],
    [
      "that must not be repeated, 500",
      { ...envoy, mustNotRepeat: true },
      [answered(500)],
      ["ask"],
      { ok: false, status: 500 },
    ],
    [
      "goes elsewhere where nobody listens",
      { ...envoy, hasFallback: true, fallbackExitsWhen: "later" },
      [failed("refused"), answered(200), bound()],
      ["ask", "ask", "watch"],
      { ok: true, outcome: "answered, still draining: it exits by itself later" },
    ],
  ])("%s", (_, policy, events, actions, result) => {
    const played = play(policy, events);
    expect(played.actions).toEqual(actions);
    expect(played.result).toMatchObject(result);
  });
});

const policies: fc.Arbitrary<QuitMachinePolicy> = fc.record({
  name: fc.constantFrom("custom", "istio", "envoy", "linkerd", "vault-agent"),
  exitsWhen: fc.constantFrom(undefined, "later"),
  closesFirst: fc.boolean(),
  hasFallback: fc.boolean(),
  mustNotRepeat: fc.boolean(),
  wasReady: fc.boolean(),
  hasLastResort: fc.boolean(),
});
const life = fc.constantFrom("gone" as const, "leaving" as const, "ready" as const, "unknown" as const);
const events: fc.Arbitrary<QuitEvent> = fc.oneof(
  fc.constantFrom(200, 204, 301, 403, 404, 500, 503).map(answered),
  fc.constantFrom("refused" as const, "unreachable" as const, "late" as const, "broken" as const).map(failed),
  fc.constant(rested),
  fc.constant(gone),
  fc.constant(half),
  fc.boolean().map(searched),
  life.map((life) => ({ kind: "looked", life }) as const),
);

describe("whatever comes, a quit", () => {
  const property = (
    check: (
      policy: QuitMachinePolicy,
      states: readonly QuitState[],
      all: readonly QuitEvent[],
      actions: readonly QuitAction[][],
    ) => void,
  ) =>
    fc.assert(
      fc.property(policies, fc.array(events, { maxLength: 30 }), (policy, some) => {
        const all = [...some, bound()];
        let [state, acts] = begin();
        const states = [state];
        const actions = [[...acts]];
        for (const event of all) {
          [state, acts] = step(state, event, policy);
          states.push(state);
          actions.push([...acts]);
        }
        check(policy, states, all, actions);
      }),
    );

  test("is over when its time is, and then does nothing", () =>
    property((_, states, __, actions) => {
      expect(states.at(-1)?.phase).toBe("over");
      for (const [at, state] of states.entries()) if (state.phase === "over") expect(actions[at + 1] ?? []).toEqual([]);
    }));

  test("is asked three times at the most where it is heard, once where that harms", () =>
    property(({ mustNotRepeat }, states, all) => {
      const heard = all.filter((event, at) => {
        return (
          states[at]?.phase === "asking" &&
          (event.kind === "answered" || (event.kind === "failed" && event.why === "broken"))
        );
      });
      expect(heard.length).toBeLessThanOrEqual(mustNotRepeat ? 1 : 3);
    }));

  test("never asks again once it was taken", () =>
    property((_, states, __, actions) => {
      const taken = states.findIndex(({ phase }) => phase === "watching");
      if (taken >= 0) for (const later of actions.slice(taken + 1)) expect(later).toEqual([]);
    }));
});
