import type { ChildExit } from "./exit.ts";
import type { QuitPolicy } from "./quit-policy.ts";
import type { SignalNumber } from "./signal.ts";

/**
 * The life of one child, as a pure state machine: waiting -> starting -> running -> leaving -> over. A stop signal that it
 * gets while running is held while the sidecars drain, where the policy says so; `draining` has those that are held. `clearing`
 * comes after running where the child has left processes in its group, which have the grace to end.
 */
export type State =
  | { readonly phase: "waiting"; readonly held: readonly SignalNumber[] }
  | { readonly phase: "starting"; readonly held: readonly SignalNumber[] }
  | {
      readonly phase: "running";
      readonly pid: number;
      readonly grace: "unset" | "armed" | "spent";
      readonly draining: "not yet" | "over" | readonly SignalNumber[];
    }
  | { readonly phase: "clearing"; readonly exitCode: number }
  | { readonly phase: "quitting"; readonly exitCode: number }
  | { readonly phase: "over"; readonly exitCode: number };

/** A deadline is an event with a name, so that a stale one can be told apart. */
export type Deadline = "wait" | "grace";

export type Event =
  | { readonly kind: "ready" }
  | { readonly kind: "wait-failed"; readonly exitCode: number }
  | { readonly kind: "started"; readonly pid: number }
  | { readonly kind: "start-failed"; readonly exitCode: number }
  | SignalEvent
  | { readonly kind: "reaped"; readonly pid: number; readonly exit: ChildExit }
  | { readonly kind: "deadline"; readonly of: Deadline }
  | { readonly kind: "drained" }
  | { readonly kind: "group-gone" }
  | { readonly kind: "quit-done" };

export interface SignalEvent {
  readonly kind: "signal";
  readonly signal: SignalNumber;
  /** ebb was started with it ignored (nohup). It asks ebb for nothing, but the child may listen to it. */
  readonly wasIgnored?: boolean;
  /** It came before the child, which would die of it before it could handle it. */
  readonly isEarly?: boolean;
}

export type Action =
  | { readonly kind: "wait" }
  | { readonly kind: "stop-waiting" }
  | { readonly kind: "give-up-waiting"; readonly start: boolean }
  | { readonly kind: "start" }
  | { readonly kind: "drain" }
  | { readonly kind: "cut-drain" }
  | { readonly kind: "forward"; readonly signal: SignalNumber }
  | { readonly kind: "drop"; readonly signal: SignalNumber }
  | { readonly kind: "end-group"; readonly watch: boolean }
  | { readonly kind: "kill-all" }
  | { readonly kind: "arm"; readonly deadline: Deadline; readonly ms: number }
  | { readonly kind: "disarm"; readonly deadline: Deadline }
  | { readonly kind: "quit" }
  | { readonly kind: "stay"; readonly reason: string }
  | { readonly kind: "exit"; readonly code: number };

export interface RunPolicy extends QuitPolicy {
  /** Milliseconds; undefined: start without waiting; Infinity: wait for ever. */
  readonly waitMs: number | undefined;
  readonly onWaitTimeout: "fail" | "start";
  /** The code of a wait that ran out of time. */
  readonly waitFailureCode: number;
  /** The signals that ask the child to stop. */
  readonly stopSignals: readonly SignalNumber[];
  /** Whether what the child leaves in its process group is ended, too. */
  readonly endsGroup: boolean;
  /** Whether a stop signal has the sidecars drained before the child gets it. */
  readonly drains: boolean;
  /** Milliseconds from a forwarded stop signal to SIGKILL; undefined: never. */
  readonly graceMs: number | undefined;
  /** Signals rewritten before they are forwarded; to 0: not forwarded at all. */
  readonly rewrite: ReadonlyMap<SignalNumber, SignalNumber>;
  readonly expectedCodes: readonly number[];
}

export type Step = readonly [State, readonly Action[]];
