import type { Sidecar } from "../../../shared/sidecars/core/sidecar.ts";

/**
 * The state of one quit, a pure state machine: asking -> resting -> asking ... -> watching -> over. A failed quit is
 * repeated: twice at most if it arrived, else until time is up. After one that was taken, the sidecar is watched. One that
 * has exited by itself may be awaited: the kubelet may be restarting it.
 */
export type QuitState =
  | (Attempts & { readonly phase: "asking" | "resting" | "looking" })
  | (Attempts & { readonly phase: "awaiting" })
  | { readonly phase: "watching"; readonly taken: Taken }
  | { readonly phase: "over"; readonly result: Result };

/** What the attempts so far came to. */
export interface Attempts {
  /** Whether the last attempt went to `QuitRequest.fallback`. */
  readonly usesFallback: boolean;
  /** How many attempts arrived but failed: answered with 5xx, or cut off before their answer. */
  readonly arrived: number;
  /** How many attempts in a row were refused. */
  readonly refusals: number;
  /** How many attempts did not arrive, which decides the rest before the next. */
  readonly misses: number;
  /** Whether an attempt was cut off: the sidecar may have ended because of it. */
  readonly wasCut: boolean;
  /** Whether the sidecar was awaited. */
  readonly wasAwaited: boolean;
  /** The result of the last attempt. */
  readonly last: Last | undefined;
}

type Last = Pick<Extract<QuitEvent, { kind: "answered" }>, "kind" | "status"> | Extract<QuitEvent, { kind: "failed" }>;

/** A quit that the sidecar has taken, or may have taken. */
export interface Taken {
  readonly usesFallback: boolean;
  /** The status of its answer. */
  readonly status?: number;
  /** Why there was no answer: only the sidecar's end shows that the quit arrived. */
  readonly why?: string;
}

/** The result of a quit. */
export interface Result {
  /** The sidecar took the quit, and has gone (as far as that can be seen) or leaves by itself. */
  readonly ok: boolean;
  /** The sidecar took the quit, or was gone before: no process need be signalled. */
  readonly isTaken: boolean;
  /** What happened, in words for the log. */
  readonly outcome: string;
  readonly status?: number;
  /** What to do, if the outcome does not say it. */
  readonly how?: string;
  /** It is gone, or was never here. */
  readonly isAbsent?: true;
}

/** What happened to a quit: the result of an action, or a deadline. */
export type QuitEvent =
  | { readonly kind: "answered"; readonly status: number }
  /** `refused`: connection refused; `unreachable`, `late`: it did not arrive; `broken`: it arrived and was not answered. */
  | { readonly kind: "failed"; readonly why: "refused" | "unreachable" | "late" | "broken"; readonly message: string }
  | { readonly kind: "rested" }
  /** The result of `look`: what the sidecar's readiness endpoint tells. */
  | { readonly kind: "looked"; readonly life: SidecarLife }
  /** The result of `watch`: the quit's address refuses connections. */
  | { readonly kind: "gone" }
  /** The result of `seek`: all ports of the sidecar have refused connections, and go on to. */
  | { readonly kind: "absent" }
  /** The result of `await`: whether the sidecar listens again. */
  | { readonly kind: "awaited"; readonly isBack: boolean }
  /** Half of the time is over. */
  | { readonly kind: "half" }
  /** The result of `search`: whether a process runs that could be signalled instead. */
  | { readonly kind: "searched"; readonly isFound: boolean; readonly askedMs: number }
  /** Time is up. `askedMs`: for how many milliseconds the last attempt has been under way. */
  | { readonly kind: "bound"; readonly askedMs: number };

/** What the readiness endpoint tells of a sidecar whose quit is refused (no listener). */
export type SidecarLife = "gone" | "leaving" | "ready" | "unknown";

/** What the caller of `begin` and `step` is to do. */
export type QuitAction =
  | { readonly kind: "ask"; readonly usesFallback: boolean }
  | { readonly kind: "rest"; readonly ms: number }
  | { readonly kind: "look" }
  | { readonly kind: "watch" }
  | { readonly kind: "search" }
  | { readonly kind: "seek" }
  | { readonly kind: "await" };

/** The settings of one quit. */
export interface QuitMachinePolicy {
  readonly name: Sidecar["name"];
  /** When the sidecar leaves after its answer at its first and at its second place, for the log. Undefined: at once. */
  readonly exitsWhen?: string | undefined;
  readonly fallbackExitsWhen?: string | undefined;
  /** The quit's port closes when the sidecar begins to exit, not when it has exited. */
  readonly closesFirst: boolean;
  readonly hasFallback: boolean;
  /** The quit must not be repeated once it may have arrived. */
  readonly mustNotRepeat: boolean;
  /** The sidecar was up before: if it refuses connections, it has exited, and is not late to start. */
  readonly wasReady: boolean;
  /** Its injector's annotation proves that it is in this pod. */
  readonly isProven?: boolean;
  /** If all of its ports refuse connections, it is gone, or was never here: that is as good as a quit. */
  readonly mayBeAbsent: boolean;
  /** Nothing of it has answered so far: if all of its ports refuse connections, it is not here. */
  readonly wasSilent: boolean;
  /** If it has exited by itself, the kubelet may be restarting it. */
  readonly mayReturn: boolean;
  /** Processes are signalled if the sidecar does not take the quit. */
  readonly hasLastResort: boolean;
}

export type QuitStep = readonly [QuitState, readonly QuitAction[]];
