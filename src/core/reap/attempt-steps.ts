import type { Backoff } from "../cluster/backoff.ts";
import type { Method } from "./methods.ts";
import type { Verdict } from "./verdict.ts";

/**
 * The reaping of one pod, by its UID, as a pure state machine: looking -> acting -> watching -> looking ... -> over, with rests
 * where the API server does not answer. Before each act the pod is looked at anew: an act follows that look alone, and only
 * while the verdict is still the same. One sidecar after the other, and one method after the other.
 */
export type State =
  | (Progress & { readonly phase: "looking" })
  | (Progress & { readonly phase: "acting"; readonly acted: Act })
  | (Progress & { readonly phase: "watching"; readonly acted: Act })
  | (Progress & { readonly phase: "resting" })
  | { readonly phase: "over"; readonly outcome: Outcome };

export interface Act {
  readonly container: string;
  readonly method: Method;
  /** Milliseconds that the sidecar then has to go. */
  readonly patienceMs: number;
}

export interface Progress {
  /** Which look or act is under way: the answer to an older one says nothing. */
  readonly turn: number;
  /** All methods have failed so often. */
  readonly round: number;
  /** Looks and acts since the last act that was answered. */
  readonly failures: number;
  /** Acts in a row that were not answered. */
  readonly misses: number;
  /** What has not worked, and why: not tried again in its round. */
  readonly tried: readonly Tried[];
  /** What was taken. */
  readonly acts: readonly Act[];
  /** The last act, where nobody answered: it may have been heard. */
  readonly unanswered: Act | undefined;
}

export interface Tried extends Act {
  readonly round: number;
  readonly why: string;
  /** A right was missing, which may be granted at any moment. */
  readonly isDenied?: true;
}

export type Event =
  /** The pod as the API server has it now. */
  | { readonly kind: "looked"; readonly turn: number; readonly observation: Observation }
  | { readonly kind: "look-failed"; readonly turn: number; readonly why: string }
  /** The right to look at pods is missing: nothing is done blindly. */
  | { readonly kind: "forbidden"; readonly turn: number; readonly reason: string }
  | { readonly kind: "acted"; readonly turn: number; readonly result: Result }
  /** The watch has seen the pod change. */
  | { readonly kind: "changed"; readonly observation: Observation }
  | { readonly kind: "deadline"; readonly of: Deadline }
  /** Leadership is lost, or ebb is told to stop. */
  | { readonly kind: "stop" };

/** `gone`: there is no pod of that name, or another one. */
export type Observation = Verdict | { readonly kind: "gone" };

export type Result =
  /** Accepted, or cut off by the sidecar's own end. */
  | { readonly kind: "taken" }
  /** Not this way: no such command, 404, not allowed, ... */
  | { readonly kind: "refused"; readonly why: string; readonly isDenied?: true }
  /** The API server or the kubelet did not answer, or asked to come back later: so after this many milliseconds at least. */
  | { readonly kind: "unavailable"; readonly why: string; readonly afterMs?: number };

export type Deadline = "answer" | "patience" | "rest";

export type Action =
  | { readonly kind: "look"; readonly turn: number }
  | { readonly kind: "act"; readonly turn: number; readonly act: Act }
  /** What is under way: the look or the act. */
  | { readonly kind: "abort" }
  | { readonly kind: "arm"; readonly deadline: Deadline; readonly ms: number }
  | { readonly kind: "disarm"; readonly deadline: Deadline }
  | { readonly kind: "end"; readonly outcome: Outcome };

export type Outcome =
  /** The sidecars have ended, after these acts. */
  | { readonly kind: "ended"; readonly acts: readonly Act[] }
  | { readonly kind: "gone" }
  /** It is not stuck any more, or not to be reaped. */
  | { readonly kind: "left"; readonly reason: string }
  | { readonly kind: "gave-up"; readonly reason: string; readonly tried: readonly Tried[] }
  /** Nobody there answers, a node's kubelet say: for later, when others have had their turn. */
  | { readonly kind: "put-off"; readonly reason: string }
  | { readonly kind: "stopped" };

export interface AttemptPolicy {
  /** How often all methods are tried. */
  readonly rounds: number;
  /** Milliseconds that a look or an act may take. */
  readonly answerMs: number;
  /** The rests where nobody answers. */
  readonly rest: Backoff;
  /** From 0 to 1, another one for each step. */
  readonly chance: number;
}

export type Step = readonly [State, readonly Action[]];
