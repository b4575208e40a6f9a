import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { begin, step } from "../../../../../src/pod/quit/core/quitting.ts";
import type {
  QuitAction,
  QuitEvent,
  QuitMachinePolicy,
  QuitState,
  Result,
} from "../../../../../src/pod/quit/core/quitting-steps.ts";
import { expectLife } from "../../run/core/machine.ts";

const envoy: QuitMachinePolicy = {
  name: "envoy",
  closesFirst: false,
  hasFallback: false,
  mustNotRepeat: false,
  wasReady: true,
  mayBeAbsent: false,
  wasSilent: false,
  mayReturn: false,
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
const bound: QuitEvent = { kind: "bound", askedMs: 5000 };
const searched = (isFound: boolean): QuitEvent => ({ kind: "searched", isFound, askedMs: 2500 });

const events: Readonly<Record<string, QuitEvent>> = {
  ...{ rested, gone, half, bound, absent: { kind: "absent" }, "bound soon": { kind: "bound", askedMs: 99 } },
  ...{ refused: failed("refused"), unreachable: failed("unreachable"), broken: failed("broken") },
  ...{ "not found": searched(false), found: searched(true), leaving: { kind: "looked", life: "leaving" } },
  ...{ missing: { kind: "looked", life: "gone" } },
  ...{ back: { kind: "awaited", isBack: true }, away: { kind: "awaited", isBack: false } },
};

const tell = (actions: readonly QuitAction[]): string =>
  actions.map((action) => (action.kind === "rest" ? `rest ${Math.round(action.ms)}` : action.kind)).join(", ");

describe("a quit", () => {
  const how = "raise --quit-timeout, or end it by signals: --signal-process envoy, with shareProcessNamespace: true";
  const early: QuitMachinePolicy = { ...envoy, wasReady: false };
  const asHook: QuitMachinePolicy = { ...early, mayBeAbsent: true };
  const late: QuitMachinePolicy = { ...early, wasSilent: true };
  const killed: QuitMachinePolicy = { ...envoy, mayReturn: true };
  const once: QuitMachinePolicy = { ...envoy, mustNotRepeat: true };
  const elsewhere: QuitMachinePolicy = { ...envoy, hasFallback: true, fallbackExitsWhen: "later" };
  const wasTaken = "refused: rest 10; rested: ask; refused: rest 15; rested: ask; refused";
  const later = "answered, still draining: it exits by itself later";

  test.each<[string, QuitMachinePolicy, string, Partial<Result>]>([
    ["is taken, and the sidecar goes", envoy, "200: watch; gone", { ok: true, outcome: "exited" }],
    [
      "is taken, and the sidecar stays",
      envoy,
      "200: watch; half; bound",
      { ok: false, isTaken: true, outcome: "answered, but still runs", how },
    ],
    [
      "of another program is done when it is answered",
      custom,
      "204",
      { ok: true, isTaken: true, outcome: "answered", status: 204 },
    ],
    ["that is taken has nothing signalled", agent, "200: watch; half; found; bound", { isTaken: true }],
    ["that is refused is not repeated", envoy, "404", { ok: false, isTaken: false, status: 404 }],
    [
      "that is answered with 500 is repeated twice",
      custom,
      "500: rest 200; rested: ask; 503: rest 1000; rested: ask; 500",
      { ok: false, outcome: "HTTP 500", status: 500 },
    ],
    [
      "that is cut off is repeated twice",
      custom,
      "broken: rest 200; rested: ask; broken: rest 1000; rested: ask; broken",
      { ok: false, outcome: "broken", how: how.replace("envoy", "NAME") },
    ],
    [
      "that was its end is taken",
      early,
      `broken: rest 200; rested: ask; ${wasTaken}`,
      { ok: true, isTaken: true, outcome: "exited" },
    ],
    [
      "where nobody listens any more: a program that was there is gone",
      custom,
      wasTaken,
      { ok: true, outcome: "had exited already" },
    ],
    [
      "where nobody listens any more: a sidecar's readiness tells",
      agent,
      `${wasTaken}: look; leaving`,
      { ok: true, isTaken: true, outcome: "was exiting already" },
    ],
    [
      "where nobody listens at any of its ports",
      asHook,
      "refused: rest 10; rested: ask; absent",
      { ok: true, isTaken: true, isAbsent: true },
    ],
    [
      "where nobody listens, and nothing tells that it is gone",
      early,
      "refused: rest 10; bound soon",
      {
        ok: false,
        outcome:
          "connection refused: there is no envoy in this pod, or its admin interface is elsewhere: set --admin to its URL",
      },
    ],
    [
      "where nobody listens, and it is proven that it is to be here",
      { ...early, isProven: true },
      "refused: rest 10; bound soon",
      {
        outcome: "connection refused: it has not started, or its admin interface is elsewhere: set --admin to its URL",
      },
    ],
    [
      "where nobody listens, and it is there",
      asHook,
      "refused: rest 10; bound soon",
      { ok: false, outcome: "connection refused: its admin interface is elsewhere: set --admin to its URL" },
    ],
    [
      "where nobody listens at any of its ports, and nothing has answered before",
      late,
      "refused: rest 10; rested: ask; refused: rest 15; absent",
      { ok: false, outcome: expect.stringContaining("there is no envoy in this pod") },
    ],
    [
      "where nobody listens any more, but the kubelet restarts it",
      killed,
      `${wasTaken}: look; missing: await; back: ask; 200: watch; gone`,
      { ok: true, outcome: "exited" },
    ],
    [
      "where nobody listens any more, nor in a while",
      killed,
      `${wasTaken}: look; missing: await; away`,
      { ok: true, outcome: "had exited already" },
    ],
    [
      "of one that has ended again is not repeated again",
      killed,
      `${wasTaken}: look; missing: await; back: ask; ${wasTaken.replace("10", "23").replace("15", "34")}: look; missing`,
      { ok: true, outcome: "had exited already" },
    ],
    ["that is taken is not absent", asHook, "200: watch; absent; gone", { ok: true, outcome: "exited" }],
    ["that hangs", envoy, "half; bound", { ok: false, isTaken: false, outcome: "no answer in time", how }],
    [
      "that hangs, and there is nothing to signal",
      agent,
      "half: search; not found; 200: watch; gone",
      { ok: true, outcome: "exited" },
    ],
    [
      "that hangs, and pilot-agent is there",
      agent,
      "half: search; found",
      { ok: false, isTaken: false, outcome: "no answer in time" },
    ],
    [
      "that has only just been repeated",
      early,
      "unreachable: rest 10; rested: ask; bound soon",
      { outcome: "unreachable" },
    ],
    ["that must not be repeated, cut off", once, "broken: watch; gone", { ok: true, outcome: "exited" }],
    ["that must not be repeated, 500", once, "500", { ok: false, status: 500 }],
    ["goes elsewhere where nobody listens", elsewhere, "refused: ask; 200: watch; bound", { ok: true, outcome: later }],
  ])("%s", (_, policy, life, result) => {
    let last: QuitState | undefined;
    const play = (state: QuitState, event: QuitEvent) => {
      const next = step(state, event, policy);
      [last] = next;
      return next;
    };
    const eventOf = (text: string) => events[text] ?? answered(Number(text));
    const asked = policy.mayBeAbsent || policy.wasSilent ? "ask, seek" : "ask";
    expectLife({ begin: () => begin(policy), step: play }, `begin: ${asked}; ${life}`, eventOf, tell);
    expect(last?.phase === "over" ? last.result : undefined).toMatchObject(result);
  });
});

const policies: fc.Arbitrary<QuitMachinePolicy> = fc.record({
  name: fc.constantFrom("custom", "istio", "envoy", "linkerd", "vault-agent"),
  exitsWhen: fc.constantFrom(undefined, "later"),
  closesFirst: fc.boolean(),
  hasFallback: fc.boolean(),
  mustNotRepeat: fc.boolean(),
  wasReady: fc.boolean(),
  mayBeAbsent: fc.boolean(),
  wasSilent: fc.boolean(),
  mayReturn: fc.boolean(),
  hasLastResort: fc.boolean(),
});
const life = fc.constantFrom("gone" as const, "leaving" as const, "ready" as const, "unknown" as const);
const anyEvent: fc.Arbitrary<QuitEvent> = fc.oneof(
  fc.constantFrom(200, 204, 301, 403, 404, 500, 503).map(answered),
  fc.constantFrom("refused" as const, "unreachable" as const, "late" as const, "broken" as const).map(failed),
  fc.constant(rested),
  fc.constant(gone),
  fc.constant(half),
  fc.boolean().map(searched),
  fc.constant<QuitEvent>({ kind: "absent" }),
  fc.boolean().map((isBack) => ({ kind: "awaited", isBack }) as const),
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
      fc.property(policies, fc.array(anyEvent, { maxLength: 30 }), (policy, some) => {
        const all = [...some, bound];
        let [state, acts] = begin(policy);
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
