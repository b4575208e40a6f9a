import { expect, test } from "bun:test";
import type { Event, RunPolicy } from "../../../../../src/pod/run/core/supervision-steps.ts";
import { reasonToStay } from "../../../../../src/pod/run/core/supervision-steps.ts";
import { exitCodeOf } from "../../../../../src/shared/core/exit.ts";
import { endsWait } from "../../../../../src/shared/core/signal.ts";
import { actionsOf, always, CHILD, forwards, has, isRepeat, stops } from "./generated-runs.ts";
import type { Entry } from "./simulated-run.ts";

test("a run does nothing out of place, and always ends", () => {
  always((world) => {
    expect(world.wrong).toEqual([]);
    expect(world.child).not.toBe("alive");
  });
});

test("a run exits once, with nothing after it, and with the code of what ended it", () => {
  always((world) => {
    const { trace, policy } = world;
    expect(actionsOf(world, "exit")).toEqual([{ kind: "exit", code: codeOf(trace, policy) }]);
    expect(trace.findLast(({ actions }) => actions.length > 0)?.actions.at(-1)?.kind).toBe("exit");
  });
});

/** The exit code that the events call for. */
function codeOf(trace: readonly Entry[], policy: RunPolicy): number {
  let isWaiting = policy.waitMs !== undefined || policy.hasPeers;
  for (const { event, after } of trace) {
    if (event?.kind === "reaped" && event.pid === CHILD) return exitCodeOf(event.exit, policy.expectedCodes);
    if (event?.kind === "deadline" && event.of === "kill") return exitCodeOf({ signal: 9 }, policy.expectedCodes);
    if (event?.kind === "start-failed") return event.exitCode;
    if (!isWaiting) continue;
    if (event?.kind === "wait-failed") return event.exitCode;
    if (event?.kind === "signal" && endsTheWait(event.signal, policy)) return 128 + event.signal;
    if (event?.kind === "deadline" && policy.onWaitTimeout === "fail") return policy.waitFailureCode;
    isWaiting = after.phase === "waiting";
  }
  throw new Error("nothing ended it");
}

test("the sidecars are quit once, unless the policy or another app container says that they stay; then that is said", () => {
  always((world) => {
    const [exit] = actionsOf(world, "exit");
    const own = reasonToStay(exit?.code ?? -1, world.policy);
    const answers = world.trace.flatMap(({ event }) => (event?.kind === "decided" ? [event.stay] : []));
    const reason = world.policy.hasPeers ? answers[0] : own;
    expect(answers).toEqual(world.policy.hasPeers ? [own ?? reason] : []);
    expect(actionsOf(world, "quit")).toHaveLength(reason === undefined ? 1 : 0);
    expect(actionsOf(world, "stay").map(({ reason }) => reason)).toEqual(reason === undefined ? [] : [reason]);
  });
});

function endsTheWait(signal: number, policy: RunPolicy): boolean {
  return endsWait(signal) || policy.stopSignals.includes(signal) || stops(signal, policy);
}

type SignalEvent = Extract<Event, { kind: "signal" }>;

/** Whether it came too early for the child. */
function isDropped(event: SignalEvent, policy: RunPolicy): boolean {
  return event.isEarly === true && !endsTheWait(event.signal, policy);
}

test("each signal that came before the child is dropped where it neither ends the wait nor is blocked in the child, and no other", () => {
  always(({ trace, policy }) => {
    for (const { event, before, actions } of trace) {
      const isOver = before === undefined || ["ending-group", "deciding", "quitting", "over"].includes(before.phase);
      const drops = !isOver && event?.kind === "signal" && isDropped(event, policy);
      expect(actions.filter(({ kind }) => kind === "drop")).toEqual(
        drops ? [{ kind: "drop", signal: event.signal }] : [],
      );
    }
  });
});

test("each signal that comes while the child lives is forwarded to it, at once, unless it begins a drain or repeats that", () => {
  always(({ trace, policy }) => {
    for (const entry of trace) {
      const { event, hasChild } = entry;
      if (event?.kind !== "signal" || isDropped(event, policy)) continue;
      const sent = policy.rewrite.get(event.signal) ?? event.signal;
      if (has(entry, "drain")) expect(policy.drains && stops(event.signal, policy)).toBe(true);
      const hasOne = hasChild || entry.before?.phase === "ending-group";
      const isForwarded = hasOne && sent !== 0 && !has(entry, "drain") && !isRepeat(entry, policy);
      if (has(entry, "cut-drain")) expect(forwards(entry).at(-1)).toBe(sent);
      else expect(forwards(entry)).toEqual(isForwarded ? [sent] : []);
    }
  });
});

test("each signal that came before the child started is forwarded to it at its start, unless it begins a drain", () => {
  always(({ trace, policy }) => {
    const at = trace.findIndex(({ event }) => event?.kind === "started");
    if (at < 0) return;
    const came = trace
      .slice(0, at)
      .flatMap(({ event }) => (event?.kind === "signal" && !isDropped(event, policy) ? [event.signal] : []));
    const stopping = new Set(came.filter((signal) => stops(signal, policy)));
    const isHeld = policy.drains && stopping.size === 1;
    const wanted = came
      .filter((signal) => !(isHeld && stopping.has(signal)))
      .map((signal) => policy.rewrite.get(signal) ?? signal)
      .filter((signal) => signal !== 0);
    const entry = trace[at] as Entry;
    expect(has(entry, "drain")).toBe(policy.drains && stopping.size > 0);
    expect(new Set(forwards(entry))).toEqual(new Set(wanted));
    expect(forwards(entry).length).toBeLessThanOrEqual(wanted.length);
  });
});
