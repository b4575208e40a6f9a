import { type ChildExit, exitCodeOf } from "../../../shared/core/exit.ts";
import { endsWait, SIG, type SignalNumber } from "../../../shared/core/signal.ts";
import type { Action, Deadline, Event, RunPolicy, SignalEvent, State, Step } from "./supervision-steps.ts";
import { reasonToStay } from "./supervision-steps.ts";

/**
 * Returns the first state of a run and its actions: to join the other app containers if there are any, else to wait for
 * the sidecars or, if `waitMs` is undefined, to start the child.
 */
export function begin(policy: RunPolicy): Step {
  const { waitMs, hasPeers } = policy;
  if (waitMs === undefined && !hasPeers) return [{ phase: "starting", held: [] }, [{ kind: "start" }]];
  const hasLimit = waitMs !== undefined && waitMs !== Number.POSITIVE_INFINITY;
  const arm: readonly Action[] = hasLimit ? [{ kind: "arm", deadline: "wait", ms: waitMs }] : [];
  return [{ phase: "waiting", held: [] }, [...arm, { kind: hasPeers ? "join" : "wait" }]];
}

/**
 * Returns the state of a run after an event, and the actions to perform. An event that the phase does not expect is
 * ignored.
 */
export function step(state: State, event: Event, policy: RunPolicy): Step {
  switch (state.phase) {
    case "waiting":
      return waiting(state, event, policy);
    case "starting":
      return starting(state, event, policy);
    case "running":
      return running(state, event, policy);
    case "ending-group":
      return endingGroup(state, event, policy);
    case "deciding":
      return event.kind === "decided" ? decided(state.exitCode, event.stay) : [state, []];
    case "quitting":
      return event.kind === "quit-done" ? over(state.exitCode) : [state, []];
    case "over":
      return [state, []];
  }
}

type In<P extends State["phase"]> = Extract<State, { phase: P }>;

function waiting(state: In<"waiting">, event: Event, policy: RunPolicy): Step {
  const disarm: Action = { kind: "disarm", deadline: "wait" };
  const stopWaiting: Action = { kind: "stop-waiting" };
  switch (event.kind) {
    case "joined":
      if (policy.waitMs !== undefined) return [state, [{ kind: "wait" }]];
      return [{ phase: "starting", held: state.held }, [{ kind: "start" }]];
    case "ready":
      return [{ phase: "starting", held: state.held }, [disarm, { kind: "start" }]];
    case "wait-failed":
      return toQuitting(event.exitCode, policy, [disarm, stopWaiting]);
    case "deadline":
      return event.of === "wait" ? outOfTime(state, policy) : [state, []];
    case "signal":
      if (asksToEnd(event, policy)) return toQuitting(128 + event.signal, policy, [disarm, stopWaiting]);
      return holdOrDrop(state, event, policy);
    default:
      return [state, []];
  }
}

function outOfTime(state: In<"waiting">, policy: RunPolicy): Step {
  const start = policy.onWaitTimeout === "start";
  const giveUp: readonly Action[] = [{ kind: "stop-waiting" }, { kind: "give-up-waiting", start }];
  if (start) return [{ phase: "starting", held: state.held }, [...giveUp, { kind: "start" }]];
  return toQuitting(policy.waitFailureCode, policy, giveUp);
}

function starting(state: In<"starting">, event: Event, policy: RunPolicy): Step {
  switch (event.kind) {
    case "started":
      return forwardHeld(state.held, event.pid, policy);
    case "start-failed":
      return toQuitting(event.exitCode, policy, []);
    case "signal":
      return holdOrDrop(state, event, policy);
    default:
      return [state, []];
  }
}

function forwardHeld(held: readonly SignalNumber[], pid: number, policy: RunPolicy): Step {
  let next: State = begun(pid);
  const actions: Action[] = [];
  for (const signal of held) {
    const [after, more] = step(next, { kind: "signal", signal }, policy);
    next = after;
    actions.push(...more);
  }
  return [next, actions];
}

/** Returns the state of a run whose child has just started. */
export function begun(pid: number): In<"running"> {
  return { phase: "running", pid, grace: "unset", draining: "not yet", isToEnd: false };
}

function holdOrDrop(state: In<"waiting"> | In<"starting">, event: SignalEvent, policy: RunPolicy): Step {
  const { signal } = event;
  if (isTooEarly(event, policy)) return [state, [{ kind: "drop", signal }]];
  return [{ ...state, held: [...state.held.filter((each) => each !== signal), signal] }, []];
}

function isTooEarly(event: SignalEvent, policy: RunPolicy): boolean {
  return event.isEarly === true && !asksToEnd(event, policy);
}

function asksToEnd({ signal }: SignalEvent, policy: RunPolicy): boolean {
  return endsWait(signal) || isStop(signal, policy);
}

/** Reports whether a signal asks the child to stop, as it came or as it is forwarded. */
export function isStop(signal: SignalNumber, { stopSignals, rewrite }: RunPolicy): boolean {
  return stopSignals.includes(signal) || stopSignals.includes(rewrite.get(signal) ?? signal);
}

/**
 * Reports whether a signal to a running child is a SIGTERM, which asks to stop, but not here: the stop signals are
 * others. It is forwarded without the drain and the grace that there are.
 */
export function isMissedStop({ signal, wasIgnored }: SignalEvent, policy: RunPolicy): boolean {
  const hasStopSteps = policy.drains || policy.graceMs !== undefined;
  return signal === SIG.TERM && wasIgnored !== true && hasStopSteps && !isStop(signal, policy);
}

function running(state: In<"running">, event: Event, policy: RunPolicy): Step {
  switch (event.kind) {
    case "signal":
      return onSignal(state, event, policy);
    case "drained":
      return isDraining(state) ? endDrain(state, policy, []) : [state, []];
    case "reaped":
      return event.pid === state.pid ? childEnded(state, event.exit, policy) : [state, []];
    case "deadline":
      return afterDeadline(state, event.of, policy);
    default:
      return [state, []];
  }
}

/** The time, in milliseconds, in which SIGKILL ends any command that ebb may signal and that waits for no disk. */
const KILL_MS = 500;

function afterDeadline(state: In<"running">, of: Deadline, policy: RunPolicy): Step {
  if (of === "grace" && state.grace === "armed") {
    const arm: Action = { kind: "arm", deadline: "kill", ms: KILL_MS };
    return [{ ...state, grace: "spent" }, [{ kind: "kill-all" }, arm]];
  }
  if (of !== "kill" || state.grace !== "spent") return [state, []];
  return toQuitting(exitCodeOf({ signal: SIG.KILL }, policy.expectedCodes), policy, [{ kind: "leave-child" }]);
}

/**
 * Handles the child's end. The rest of its process group gets what is left of the grace period, or all of it if no stop
 * signal came.
 */
function childEnded(state: In<"running">, exit: ChildExit, policy: RunPolicy): Step {
  const { grace, isToEnd } = state;
  const { graceMs: ms } = policy;
  const exitCode = exitCodeOf(exit, policy.expectedCodes);
  const isDone = !isToEnd && exitCodeOf(exit) === 0;
  const warn: readonly Action[] = isDone ? [{ kind: "warn-of-left" }] : [];
  const cut: readonly Action[] = isDraining(state) ? [{ kind: "cut-drain" }] : [];
  const endsGroup = policy.endsGroup && grace !== "spent";
  if (endsGroup && ms !== undefined) {
    const arm: readonly Action[] = grace === "unset" ? [{ kind: "arm", deadline: "grace", ms }] : [];
    return [{ phase: "ending-group", exitCode }, [...cut, ...arm, { kind: "end-group", watch: true }, ...warn]];
  }
  const deadline = grace === "armed" ? "grace" : "kill";
  const disarm: readonly Action[] = grace === "unset" ? [] : [{ kind: "disarm", deadline }];
  const end: readonly Action[] = endsGroup ? [{ kind: "end-group", watch: false }] : [];
  return toQuitting(exitCode, policy, [...disarm, ...cut, ...end, ...warn]);
}

function endingGroup(state: In<"ending-group">, event: Event, policy: RunPolicy): Step {
  switch (event.kind) {
    case "group-gone":
      return toQuitting(state.exitCode, policy, [{ kind: "disarm", deadline: "grace" }]);
    case "deadline":
      return event.of === "grace" ? toQuitting(state.exitCode, policy, [{ kind: "kill-all" }]) : [state, []];
    case "signal": {
      const sent = policy.rewrite.get(event.signal) ?? event.signal;
      return [state, sent === 0 ? [] : [{ kind: "forward", signal: sent }]];
    }
    default:
      return [state, []];
  }
}

/**
 * Handles a signal. The first stop signal starts the drain, another one, or a typed one, cuts it short; then the child
 * gets both.
 */
function onSignal(state: In<"running">, event: SignalEvent, policy: RunPolicy): Step {
  const { signal, wasIgnored, isTyped } = event;
  if (isTooEarly(event, policy)) return [state, [{ kind: "drop", signal }]];
  const sent = policy.rewrite.get(signal) ?? signal;
  if (sent === 0) return [state, []];
  if (wasIgnored || !isStop(signal, policy)) return [state, [{ kind: "forward", signal: sent }]];
  if (state.draining === "over" || !policy.drains) return stopChild(state, [sent], policy);
  if (!isDraining(state)) return [{ ...state, draining: sent, isToEnd: true }, [{ kind: "drain" }]];
  if (sent === state.draining && isTyped !== true) return [state, []];
  return endDrain(state, policy, [{ kind: "cut-drain" }], [sent]);
}

/** A running child's state during the drain. */
type WhileDraining = Omit<In<"running">, "draining"> & { readonly draining: SignalNumber };

function isDraining(state: In<"running">): state is WhileDraining {
  return typeof state.draining !== "string";
}

/** Ends the drain after `cut`, and forwards its signal, then `more`. */
function endDrain(
  { draining, ...state }: WhileDraining,
  policy: RunPolicy,
  cut: readonly Action[],
  more: readonly SignalNumber[] = [],
): Step {
  const [next, actions] = stopChild({ ...state, draining: "over" }, [draining, ...more], policy);
  return [next, [...cut, { kind: "announce-drained" }, ...actions]];
}

function stopChild(state: In<"running">, signals: readonly SignalNumber[], { graceMs }: RunPolicy): Step {
  const forward = signals.map((signal): Action => ({ kind: "forward", signal }));
  if (graceMs === undefined || state.grace !== "unset") return [{ ...state, isToEnd: true }, forward];
  const arm: Action = { kind: "arm", deadline: "grace", ms: graceMs };
  return [{ ...state, grace: "armed", isToEnd: true }, [...forward, arm]];
}

function toQuitting(exitCode: number, policy: RunPolicy, before: readonly Action[]): Step {
  const stay = reasonToStay(exitCode, policy);
  const [state, actions] = policy.hasPeers ? deciding(exitCode, stay) : decided(exitCode, stay);
  return [state, [...before, ...actions]];
}

/** Returns the step that asks the other app containers which is the last, unless `stay` says why the sidecars are kept. */
export function deciding(exitCode: number, stay: string | undefined): Step {
  return [{ phase: "deciding", exitCode }, [{ kind: "decide", exitCode, stay }]];
}

function decided(exitCode: number, stay: string | undefined): Step {
  if (stay === undefined) return [{ phase: "quitting", exitCode }, [{ kind: "quit" }]];
  const [state, exit] = over(exitCode);
  return [state, [{ kind: "stay", reason: stay }, ...exit]];
}

function over(exitCode: number): Step {
  return [{ phase: "over", exitCode }, [{ kind: "exit", code: exitCode }]];
}
