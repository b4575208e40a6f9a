import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  begin,
  type DrainAction,
  type DrainDeadline,
  type DrainEvent,
  type DrainPolicy,
  type DrainRequest,
  type DrainState,
  step,
} from "../../../../../src/pod/envoy/core/drain.ts";
import { fitMinimum } from "../../../../../src/shared/core/shutdown-budget.ts";

const duration = fc.constantFrom(0, 1, 100, 250, 999, 1000, 1001, 5000, 60_000);
const policy: fc.Arbitrary<DrainPolicy> = fc
  .record({
    boundMs: duration,
    minMs: duration,
    maxInFlight: fc.nat(3),
    isListenersFirst: fc.boolean(),
    wasUp: fc.boolean(),
  })
  .map((each) => ({ ...each, minMs: fitMinimum(each.minMs, each.boundMs) }));

/** How Envoy answers what it is asked next: after so long, or never. */
interface Answer {
  readonly afterMs: number;
  readonly as: "well" | "failing" | "refusing";
  readonly left: number;
}

const answer: fc.Arbitrary<Answer> = fc.record({
  afterMs: fc.constantFrom(0, 1, 10, 900, 2000, Number.POSITIVE_INFINITY),
  as: fc.constantFrom("well", "well", "well", "failing", "failing", "refusing"),
  left: fc.nat(4),
});

interface Entry {
  readonly ms: number;
  readonly event: DrainEvent | undefined;
  readonly after: DrainState;
  readonly actions: readonly DrainAction[];
}

/** A drain beside an Envoy that answers so, in simulated time; then for a while whatever else comes. */
function simulate(policy: DrainPolicy, answers: readonly Answer[], cutMs: number): readonly Entry[] {
  const trace: Entry[] = [];
  const coming: { readonly ms: number; readonly event: DrainEvent }[] = [{ ms: cutMs, event: { kind: "cut" } }];
  let asked = 0;
  let [state, actions] = begin(policy);
  for (let ms = 0, event: DrainEvent | undefined; ; ) {
    trace.push({ ms, event, after: state, actions });
    for (const action of actions) {
      if (action.kind === "arm") coming.push({ ms: ms + action.ms, event: { kind: "deadline", of: action.deadline } });
      if (action.kind === "ask") {
        const answer = answers[asked++ % answers.length] as Answer;
        coming.push({ ms: ms + answer.afterMs, event: eventOf(action.request, answer) });
      }
    }
    coming.sort((one, other) => one.ms - other.ms);
    const next = coming.shift();
    if (next === undefined || !Number.isFinite(next.ms) || trace.length > 2000) return trace;
    ({ ms, event } = next);
    [state, actions] = step(state, event, policy);
  }
}

function eventOf(request: DrainRequest, { as, left }: Answer): DrainEvent {
  if (as !== "well") return { kind: "failed", request, isRefused: as === "refusing" };
  if (request !== "count") return { kind: "done", request };
  return { kind: "counted", inFlight: { requests: left, connections: 0, hasRequests: true, countedBy: "listeners" } };
}

/** Whatever Envoy does, and whenever it is cut short. */
function always(holds: (trace: readonly Entry[], policy: DrainPolicy, cutMs: number) => void): void {
  const answers = fc.array(answer, { minLength: 1, maxLength: 12 });
  const cutMs = fc.constantFrom(0, 50, 3000, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY);
  const property = fc.property(policy, answers, cutMs, (policy, answers, cutMs) =>
    holds(simulate(policy, answers, cutMs), policy, cutMs),
  );
  fc.assert(property, { numRuns: 1000 });
}

const endsOf = (trace: readonly Entry[]) =>
  trace.flatMap(({ ms, actions }) =>
    actions.flatMap((action) => (action.kind === "end" ? [{ ms, outcome: action.outcome }] : [])),
  );
const asksOf = (trace: readonly Entry[], request: DrainRequest) =>
  trace.filter(({ actions }) => actions.some((action) => action.kind === "ask" && action.request === request));

test("a drain ends once, by the bound, and does nothing afterwards", () => {
  always((trace, { boundMs }, cutMs) => {
    const ends = endsOf(trace);
    expect(ends).toHaveLength(1);
    expect(ends[0]?.ms).toBeLessThanOrEqual(Math.min(boundMs, cutMs));
    const at = trace.findIndex(({ actions }) => actions.some(({ kind }) => kind === "end"));
    for (const { after, actions } of trace.slice(at + 1)) {
      expect(after.phase).toBe("over");
      expect(actions).toEqual([]);
    }
  });
});

test("the first request goes out at once; each goes out once, the other one after its answer or the minimum", () => {
  always((trace, { minMs, isListenersFirst }) => {
    const order = ["fail-health", "drain-listeners"] as const;
    const [first, second] = isListenersFirst ? order.toReversed() : order;
    expect(asksOf(trace, first as DrainRequest).map(({ ms }) => ms)).toEqual([0]);
    const seconds = asksOf(trace, second as DrainRequest);
    expect(seconds.length).toBeLessThanOrEqual(1);
    for (const { ms, event } of seconds) {
      if (!isListenersFirst) expect(ms).toBeGreaterThanOrEqual(minMs);
      else expect(event).toMatchObject({ kind: expect.stringMatching(/^(done|failed)$/), request: first });
    }
  });
});

test("a drain counts nothing before the health checks were to fail and the listeners to drain", () => {
  always((trace) => {
    const [count] = asksOf(trace, "count");
    if (count === undefined) return;
    for (const request of ["fail-health", "drain-listeners"] as const)
      expect(trace.indexOf(asksOf(trace, request)[0] as Entry)).toBeWithin(0, trace.indexOf(count));
  });
});

test("a drain counts nothing before the minimum", () => {
  always((trace, { minMs }) => {
    for (const { ms } of asksOf(trace, "count")) expect(ms).toBeGreaterThanOrEqual(minMs);
  });
});

test("an Envoy that is not there is no reason to end before the minimum", () => {
  always((trace, { minMs }) => {
    const [end] = endsOf(trace);
    if (end?.outcome.kind === "not there") expect(end.ms).toBeGreaterThanOrEqual(minMs);
  });
});

test("drained is what a count said, after the minimum, with no more left than may be", () => {
  always((trace, { minMs, maxInFlight }) => {
    const [end] = endsOf(trace);
    if (end?.outcome.kind !== "drained") return;
    expect(end.ms).toBeGreaterThanOrEqual(minMs);
    const last = trace.find(({ actions }) => actions.some(({ kind }) => kind === "end"))?.event;
    if (last?.kind !== "counted") throw new Error("no count");
    expect(last.inFlight.requests + last.inFlight.connections).toBeLessThanOrEqual(maxInFlight);
  });
});

test("out of time is said at the bound alone, with what the last count saw", () => {
  always((trace, { boundMs, maxInFlight }) => {
    const [end] = endsOf(trace);
    if (end?.outcome.kind !== "out of time") return;
    expect(end.ms).toBe(boundMs);
    const counts = trace.flatMap(({ event, ms }) => (event?.kind === "counted" && ms <= boundMs ? [event] : []));
    expect(counts.map(({ inFlight }) => inFlight)).toContainEqual(end.outcome.left);
    expect(end.outcome.left.requests + end.outcome.left.connections).toBeGreaterThan(maxInFlight);
  });
});

test("gone is said of an Envoy that was up before, exited of one that answered or may have, not there of no other", () => {
  always((trace, { wasUp }) => {
    const [end] = endsOf(trace);
    if (wasUp) expect(end?.outcome.kind).not.toBe("not there");
    const { kind } = end?.outcome ?? {};
    if (kind !== "gone" && kind !== "not there" && kind !== "exited") return;
    const answered = trace.filter(({ event }) => event?.kind === "done" || event?.kind === "counted");
    if (kind !== "exited") expect(answered).toEqual([]);
    const refusals = trace.filter(({ event }) => event?.kind === "failed" && event.isRefused);
    expect(refusals.length).toBeGreaterThan(0);
  });
});

test("after five counts in a row that failed, nothing more is asked", () => {
  always((trace) => {
    let failures = 0;
    for (const { event, actions } of trace) {
      if (event?.kind === "counted") failures = 0;
      if (event?.kind === "failed" && event.request === "count") failures += 1;
      if (failures >= 5) expect(actions.filter(({ kind }) => kind === "ask")).toEqual([]);
    }
  });
});

const anyEvent: fc.Arbitrary<DrainEvent> = fc.oneof(
  fc.record({ kind: fc.constant("done"), request: fc.constantFrom("fail-health", "drain-listeners") }),
  fc.record({
    kind: fc.constant("failed"),
    request: fc.constantFrom("fail-health", "drain-listeners", "count"),
    isRefused: fc.boolean(),
  }),
  fc.nat(3).map(
    (requests): DrainEvent => ({
      kind: "counted",
      inFlight: { requests, connections: 0, hasRequests: true, countedBy: "listeners" },
    }),
  ),
  fc
    .constantFrom<DrainDeadline>("minimum", "poll", "last look", "bound")
    .map((of): DrainEvent => ({ kind: "deadline", of })),
  fc.constant<DrainEvent>({ kind: "cut" }),
);

test("in any order of any events there is one end at most, and the bound and a cut are always one", () => {
  fc.assert(
    fc.property(policy, fc.array(anyEvent, { maxLength: 40 }), fc.boolean(), (policy, events, isCut) => {
      const last: DrainEvent = isCut ? { kind: "cut" } : { kind: "deadline", of: "bound" };
      let [state] = begin(policy);
      let ends = 0;
      for (const event of [...events, last]) {
        const before = structuredClone(state);
        const [next, actions] = step(state, event, policy);
        expect(state).toEqual(before);
        ends += actions.filter(({ kind }) => kind === "end").length;
        state = next;
      }
      expect(state.phase).toBe("over");
      expect(ends).toBe(1);
    }),
    { numRuns: 1000 },
  );
});
