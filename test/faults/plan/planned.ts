export type CommandName = "run" | "wait" | "drain" | "quit";

/** What the proxy does with a request. `hang`: it reads, and never answers. `die`: from then on nobody listens. */
export type Answer =
  | { readonly kind: "ok"; readonly form: "length" | "chunks" | "close"; readonly delayMs: number }
  /** A good answer in eight pieces, over `ms`. */
  | { readonly kind: "drip"; readonly ms: number }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "hang" | "reset" | "close" | "half" | "garbage" | "endless" | "die" }
  | { readonly kind: "ok, then die"; readonly delayMs: number };

/**
 * The answers of an endpoint, each in turn, from a time on, in milliseconds since the start. Of the quits the last
 * repeats.
 */
export interface Phase {
  readonly fromMs: number;
  readonly answers: readonly Answer[];
}

/**
 * Whether the proxy listens, from a time on, in ms since the start. `deaf`: it listens, but no connection is accepted.
 */
export interface Door {
  readonly fromMs: number;
  readonly state: "open" | "closed" | "deaf";
}

export type Endpoint = "ready" | "fail" | "drain" | "stats" | "dump" | "quit";

export interface ProxyPlan {
  readonly doors: readonly Door[];
  readonly endpoints: Readonly<Record<Endpoint, readonly Phase[]>>;
  /** The number of requests in flight, from these times on, in ms since the start. */
  readonly inFlight: readonly { readonly fromMs: number; readonly count: number }[];
}

export interface AppPlan {
  readonly kind: "steps" | "not found" | "not executable" | "none";
  /** The arguments of app.c. */
  readonly steps: readonly string[];
}

/**
 * The event that a signal waits for. `ebb`: ebb is started; `app`: the app is; `noting`, `pausing`: the app notes
 * signals, or pauses; `drain`, `quit`: the first such request; `exit`: the app's last word.
 */
export type Cue = "ebb" | "app" | "noting" | "drain" | "quit" | "exit" | "pausing";

export interface SignalPlan {
  readonly cue: Cue;
  /** The milliseconds from the cue to the signal. */
  readonly afterMs: number;
  readonly signal: number;
}

export interface Flags {
  readonly waitMs: number;
  readonly onWaitTimeout: "fail" | "start";
  readonly noWait: boolean;
  readonly quitOn: "always" | "success" | "never";
  readonly restartPolicy: "Always" | "OnFailure" | "Never" | undefined;
  readonly quitMs: number;
  readonly drainMs: number;
  readonly minDrainMs: number;
  readonly maxInFlight: number;
  readonly graceMs: number | undefined;
  readonly isGroup: boolean;
  readonly rewrite: readonly (readonly [from: number, to: number])[];
  readonly expectExit: readonly number[];
  readonly logLevel: "info" | "debug";
  /** Whether `ebb drain` has --then-quit. */
  readonly thenQuit: boolean;
}

/** All that happens in a run. */
export interface Plan {
  readonly seed: number;
  readonly command: CommandName;
  /** Whether ebb is PID 1 of a namespace. */
  readonly isPid1: boolean;
  readonly sidecar: "envoy" | "istio" | "linkerd" | "custom" | "auto";
  /** Whether the proxy listens on a Unix socket. */
  readonly isUnix: boolean;
  /** Whether the pod's annotations say that the sidecar is native: it is waited for and drained, never quit. */
  readonly isNative: boolean;
  readonly proxy: ProxyPlan;
  readonly flags: Flags;
  readonly app: AppPlan;
  readonly signals: readonly SignalPlan[];
  /**
   * The signals that ebb is started with blocked. Its child has them blocked too, so that early ones wait for the
   * child.
   */
  readonly blocked: readonly number[];
}
