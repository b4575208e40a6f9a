import { expect, test } from "bun:test";
import { all, always, type Told } from "./generated-attempts.ts";

const endsOf = (told: Told) => all(told).flatMap((action) => (action.kind === "end" ? [action.outcome] : []));

test("it ends once, and nothing is done afterwards", () => {
  always((told) => {
    expect(endsOf(told)).toHaveLength(1);
    expect(all(told).at(-1)?.kind).toBe("end");
    expect(told.trace.at(-1)?.after.phase).toBe("over");
  });
});

test("each act answers a look at the pod, which was stuck, and acts on what that look showed", () => {
  always(({ trace }) => {
    for (const { event, actions } of trace) {
      for (const action of actions) {
        if (action.kind !== "act") continue;
        if (event?.kind !== "looked" || event.observation.kind !== "end") throw new Error("an act without a look");
        const ending = event.observation.containers[0];
        expect(action.act.container).toBe(ending?.container as string);
        expect(ending?.methods).toContain(action.act.method);
      }
    }
  });
});

test("no sidecar is asked twice by one method in one round, unless nobody answered", () => {
  always((told, { policy }) => {
    const answered = told.trace.flatMap(({ event, before }) => {
      if (event?.kind !== "acted" || event.result.kind === "unavailable" || before?.phase !== "acting") return [];
      return event.turn === before.turn
        ? [`${before.round} ${before.acted.container} ${JSON.stringify(before.acted.method)}`]
        : [];
    });
    expect(new Set(answered).size).toBe(answered.length);
    for (const each of answered) expect(Number(each.split(" ")[0])).toBeLessThanOrEqual(policy.rounds);
  });
});

test("a sidecar that heeds one of its methods is ended, whatever goes wrong on the way", () => {
  always((told, { sidecars, happens, troubles }) => {
    const heed = sidecars.every(({ methods, heeds }) => heeds !== undefined && heeds < methods);
    // what is not answered may have been heard
    if (!heed || happens !== undefined || troubles.some((each) => each !== "unavailable")) return;
    expect(endsOf(told)).toMatchObject([{ kind: "ended" }]);
  });
});

test("one that heeds none is given up, after all its methods in each round, and the report has them all", () => {
  always((told, { sidecars, happens, troubles, policy }) => {
    const [first] = sidecars;
    if (first === undefined || (first.heeds ?? 9) < first.methods || happens !== undefined || troubles.length > 0)
      return;
    expect(endsOf(told)).toMatchObject([
      { kind: "gave-up", tried: Array(first.methods * policy.rounds).fill({ container: "s0" }) },
    ]);
  });
});
