import type { Backoff } from "../cluster/backoff.ts";
import type { Method } from "./methods.ts";
import type { Verdict } from "./verdict.ts";

/**
 * The states of an attempt to end the sidecars of one pod, identified by its UID: looking -> acting -> watching ->
 * looking ... -> over. It rests while the API server does not answer, and between rounds. Before each act the pod is
 * looked at anew: an act follows that look alone, and only while the verdict is still the same. One sidecar is ended
 * after the other, and one method is tried after the other.
 */
export type State =
  | (Progress & { readonly phase: "looking" })
  | (Progress & { readonly phase: "acting"; readonly acted: Act })
  | (Progress & { readonly phase: "watching"; readonly acted: Act })
  | (Progress & { readonly phase: "resting" })
  | { readonly phase: "over"; readonly outcome: Outcome };

/** One use of a method on the sidecar in `container`. */
export interface Act {
  readonly container: string;
  readonly method: Method;
  /** Milliseconds that the sidecar then has to exit. */
  readonly patienceMs: number;
}

/** What an attempt remembers from one state to the next. */
export interface Progress {
  /** The number of the look or act that is under way. An answer with an older number is ignored. */
  readonly turn: number;
  /** The number of the round, from 1. In each round every method is tried once. */
  readonly round: number;
  /**
   * Failed looks and `unavailable` acts since the last act that was taken or refused. Each makes the next rest longer.
   */
  readonly failures: number;
  /** Acts in a row with the result `unavailable`. */
  readonly misses: number;
  /** The acts that have not worked, and why. A method is not tried again in its round. */
  readonly tried: readonly Tried[];
  /** The acts that were taken. */
  readonly acts: readonly Act[];
  /** The last act, if it was not answered: the sidecar may have heard it. */
  readonly unanswered: Act | undefined;
}

/** An act that has not worked. */
export interface Tried extends Act {
  readonly round: number;
  readonly why: string;
  /** A permission was missing, which may be granted at any moment. */
  readonly isDenied?: true;
}

/** What an attempt reacts to. `turn` is that of the look or act which is answered. */
export type Event =
  /** The pod was read from the API server. */
  | { readonly kind: "looked"; readonly turn: number; readonly observation: Observation }
  | { readonly kind: "look-failed"; readonly turn: number; readonly why: string }
  /** The permission to read pods is missing: nothing is done blindly. */
  | { readonly kind: "forbidden"; readonly turn: number; readonly reason: string }
  | { readonly kind: "acted"; readonly turn: number; readonly result: Result }
  /** The watch has seen the pod change. */
  | { readonly kind: "changed"; readonly observation: Observation }
  | { readonly kind: "deadline"; readonly of: Deadline }
  /** Leadership is lost, or ebb is told to stop. */
  | { readonly kind: "stop" };

/** What was seen of the pod. `gone`: there is no pod of that name, or another pod has it. */
export type Observation = Verdict | { readonly kind: "gone" };

/** What came of an act. */
export type Result =
  /** The act was accepted, or its connection was cut by the sidecar's own end. */
  | { readonly kind: "taken" }
  /** The method does not work here: there is no such command, 404, not allowed, ... */
  | { readonly kind: "refused"; readonly why: string; readonly isDenied?: true }
  /**
   * The API server or the kubelet did not answer, or asked to come back later: after `afterMs` milliseconds at least.
   */
  | { readonly kind: "unavailable"; readonly why: string; readonly afterMs?: number };

/** Ends a wait for the `answer` to a look or act, for the exit of a sidecar (`patience`), or a `rest`. */
export type Deadline = "answer" | "patience" | "rest";

/** What an attempt wants done. */
export type Action =
  | { readonly kind: "look"; readonly turn: number }
  | { readonly kind: "act"; readonly turn: number; readonly act: Act }
  /** Ends the look or act that is under way. */
  | { readonly kind: "abort" }
  | { readonly kind: "arm"; readonly deadline: Deadline; readonly ms: number }
  | { readonly kind: "disarm"; readonly deadline: Deadline }
  | { readonly kind: "end"; readonly outcome: Outcome };

/** How an attempt ends. */
export type Outcome =
  /** The sidecars have ended, after these acts. */
  | { readonly kind: "ended"; readonly acts: readonly Act[] }
  | { readonly kind: "gone" }
  /** The pod is not stuck any more, or not to be reaped. */
  | { readonly kind: "left"; readonly reason: string }
  | { readonly kind: "gave-up"; readonly reason: string; readonly tried: readonly Tried[] }
  /**
   * It cannot be done now: a node's kubelet does not answer, say, or a permission is missing. Others have their turn
   * first.
   */
  | { readonly kind: "put-off"; readonly reason: string }
  | { readonly kind: "stopped" };

/** How often and how long an attempt tries. */
export interface AttemptPolicy {
  /** How often each method is tried. */
  readonly rounds: number;
  /** Milliseconds that a look or an act may take. */
  readonly answerMs: number;
  /** The rests while nobody answers, and between rounds. */
  readonly rest: Backoff;
  /** A random number from 0 to 1, another one for each step: it varies the length of rests. */
  readonly chance: number;
}

/** The next state, and what is to be done in it. */
export type Step = readonly [State, readonly Action[]];
