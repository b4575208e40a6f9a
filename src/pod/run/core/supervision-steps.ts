import type { ChildExit } from "../../../shared/core/exit.ts";
import { type Restarting, whyRestarted } from "../../../shared/core/restart.ts";
import type { SignalNumber } from "../../../shared/core/signal.ts";

/**
 * The state of a run, which is the life of one child: waiting -> starting -> running -> ending-group -> deciding
 * -> quitting -> over. `ending-group` is skipped unless the processes that the child leaves in its group get the grace
 * to end, `deciding` unless the pod has several app containers.
 */
export type State =
  /** `held` has the signals that the child gets once it runs. */
  | { readonly phase: "waiting"; readonly held: readonly SignalNumber[] }
  | { readonly phase: "starting"; readonly held: readonly SignalNumber[] }
  | {
      readonly phase: "running";
      readonly pid: number;
      /** The grace deadline: `spent` once it is over and the child's processes were killed. */
      readonly grace: "unset" | "armed" | "spent";
      /**
       * During a drain, the stop signal that the child gets after it. A repeat of it is the same stop, however late:
       * container runtimes send it again (Kata at once; containerd after 12 to 16 s if it was restarted meanwhile).
       */
      readonly draining: "not yet" | SignalNumber | "over";
      /** Whether a stop signal has come for it. */
      readonly isToEnd: boolean;
    }
  | { readonly phase: "ending-group"; readonly exitCode: number }
  /** The other app containers are asked whether this one is the last. */
  | { readonly phase: "deciding"; readonly exitCode: number }
  | { readonly phase: "quitting"; readonly exitCode: number }
  | { readonly phase: "over"; readonly exitCode: number };

/** The names of the deadlines, by which an event of an earlier phase's deadline is recognised and ignored. */
export const deadlines = ["wait", "grace", "kill"] as const;
export type Deadline = (typeof deadlines)[number];

/** An event of the run, as `step` takes it. */
export type Event =
  | { readonly kind: "joined" }
  | { readonly kind: "ready" }
  | { readonly kind: "wait-failed"; readonly exitCode: number }
  | { readonly kind: "started"; readonly pid: number }
  | { readonly kind: "start-failed"; readonly exitCode: number }
  | SignalEvent
  | { readonly kind: "reaped"; readonly pid: number; readonly exit: ChildExit }
  | { readonly kind: "deadline"; readonly of: Deadline }
  | { readonly kind: "drained" }
  | { readonly kind: "group-gone" }
  /** `stay` is why the sidecars are kept; undefined if this container quits them. */
  | { readonly kind: "decided"; readonly stay: string | undefined }
  | { readonly kind: "quit-done" };

/** A signal that ebb has received. */
export interface SignalEvent {
  readonly kind: "signal";
  readonly signal: SignalNumber;
  /** Whether ebb was started with the signal ignored (nohup). Then it is only forwarded: the child may listen to it. */
  readonly wasIgnored?: boolean;
  /** Arrived before the child started. Dropped unless it is a stop signal or ends a wait, since the child has no handler yet. */
  readonly isEarly?: boolean;
  /** Whether it may be a Ctrl-C: INT, and ebb has a terminal. Then a repeat is meant as one. */
  readonly isTyped?: boolean;
}

/** An action that the caller of `step` performs, in order. */
export type Action =
  /** Tell the other app containers that this one starts. */
  | { readonly kind: "join" }
  | { readonly kind: "wait" }
  | { readonly kind: "stop-waiting" }
  | { readonly kind: "give-up-waiting"; readonly start: boolean }
  | { readonly kind: "start" }
  | { readonly kind: "drain" }
  | { readonly kind: "cut-drain" }
  /** Tell the pod's other containers that the drain is over, and the child gets its stop signal. */
  | { readonly kind: "announce-drained" }
  | { readonly kind: "forward"; readonly signal: SignalNumber }
  | { readonly kind: "drop"; readonly signal: SignalNumber }
  | { readonly kind: "end-group"; readonly watch: boolean }
  /** Warn of the processes that the child has left running, as one that puts itself into the background does. */
  | { readonly kind: "warn-of-left" }
  | { readonly kind: "kill-all" }
  /** End without the child, which SIGKILL did not end. */
  | { readonly kind: "leave-child" }
  /** `ms` is the longest time; what a drain has used of the pod's grace period shortens that of `grace`. */
  | { readonly kind: "arm"; readonly deadline: Deadline; readonly ms: number }
  | { readonly kind: "disarm"; readonly deadline: Deadline }
  /** Tell the other app containers that this one has ended, and ask which is the last, unless it is clear: `stay`. */
  | { readonly kind: "decide"; readonly exitCode: number; readonly stay: string | undefined }
  | { readonly kind: "quit" }
  | { readonly kind: "stay"; readonly reason: string }
  | { readonly kind: "exit"; readonly code: number };

/** The settings that decide the steps of a run. */
export interface RunPolicy extends QuitPolicy {
  /** Whether the pod has several app containers: the last one that ends quits the sidecars. */
  readonly hasPeers: boolean;
  /**
   * How long to wait for the sidecars, in milliseconds; undefined to start without waiting, Infinity to wait for ever.
   */
  readonly waitMs: number | undefined;
  readonly onWaitTimeout: "fail" | "start";
  /** The exit code if the wait runs out of time. */
  readonly waitFailureCode: number;
  /** The signals that ask the child to stop. */
  readonly stopSignals: readonly SignalNumber[];
  /** Whether the processes that the child leaves in its process group are ended, too. */
  readonly endsGroup: boolean;
  /** Whether the first stop signal starts a drain of the sidecars, after which the child gets the signal. */
  readonly drains: boolean;
  /** Milliseconds from a forwarded stop signal to SIGKILL; undefined for no SIGKILL. */
  readonly graceMs: number | undefined;
  /** The signal to forward in place of another; 0 to forward none. */
  readonly rewrite: ReadonlyMap<SignalNumber, SignalNumber>;
  /** The exit codes of the child that count as 0. */
  readonly expectedCodes: readonly number[];
}

/** The next state, and the actions to perform in order. */
export type Step = readonly [State, readonly Action[]];

/** `--quit-on`: after which exits of the child the sidecars are told to quit. `success` is exit code 0. */
export type QuitOn = "always" | "success" | "never";

export interface QuitPolicy extends Restarting {
  readonly quitOn: QuitOn;
  /** Whether another `ebb run` owns the sidecars: this container's first process. */
  readonly isBesideOwner?: boolean;
}

/** Both cases, because nothing inside a pod tells which of them it is. */
const KUBELET = "the kubelet restarts this container; if the pod is being deleted, the kubelet stops the sidecars";

/**
 * Returns the reason to keep the sidecars after the child's exit code, or undefined if they are to quit. A container
 * that the kubelet restarts needs them.
 */
export function reasonToStay(exitCode: number, policy: QuitPolicy): string | undefined {
  if (policy.isBesideOwner === true) return "they belong to the ebb run that is this container's first process";
  if (policy.quitOn === "never") return "--quit-on never";
  if (policy.quitOn === "success" && exitCode !== 0) return `--quit-on success, and the exit code is ${exitCode}`;
  const why = whyRestarted(exitCode, policy);
  return why === undefined ? undefined : `${why}: ${KUBELET}`;
}
