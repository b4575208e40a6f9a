export type CommandName = "run" | "wait" | "drain" | "quit";

/** What the proxy does with one request. `hang`: it reads, and never answers. `die`: nobody listens any more from then on. */
export type Answer =
  | { readonly kind: "ok"; readonly form: "length" | "chunks" | "close"; readonly delayMs: number }
  /** A good answer, byte by byte. */
  | { readonly kind: "drip"; readonly ms: number }
  | { readonly kind: "status"; readonly status: number }
  | { readonly kind: "hang" | "reset" | "close" | "half" | "garbage" | "endless" | "die" }
  | { readonly kind: "ok, then die"; readonly delayMs: number };

/** From this moment, in milliseconds since ebb was started; of several answers, each in turn. */
export interface Phase {
  readonly fromMs: number;
  readonly answers: readonly Answer[];
}

/** `deaf`: connections wait in vain to be accepted, as many as fit; others are not even opened. */
export interface Door {
  readonly fromMs: number;
  readonly state: "open" | "closed" | "deaf";
}

export type Endpoint = "ready" | "fail" | "drain" | "stats" | "dump" | "quit";

export interface ProxyPlan {
  readonly doors: readonly Door[];
  readonly endpoints: Readonly<Record<Endpoint, readonly Phase[]>>;
  /** Requests in flight, from these moments on. */
  readonly inFlight: readonly { readonly fromMs: number; readonly count: number }[];
}

export interface AppPlan {
  readonly kind: "steps" | "not found" | "not executable" | "none";
  /** Words of app.c. */
  readonly steps: readonly string[];
}

/** What a signal waits for. `app`: the app is there; `noting`: it notes signals; the others: the first such request, the app's last word. */
export type Cue = "ebb" | "app" | "noting" | "drain" | "quit" | "exit" | "pausing";

export interface SignalPlan {
  readonly cue: Cue;
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
  readonly idle: number;
  readonly graceMs: number | undefined;
  readonly isGroup: boolean;
  readonly rewrite: readonly (readonly [from: number, to: number])[];
  readonly expectExit: readonly number[];
  readonly logLevel: "info" | "debug";
  /** `drain --quit`. */
  readonly thenQuit: boolean;
}

export interface Plan {
  readonly seed: number;
  readonly command: CommandName;
  readonly isPid1: boolean;
  readonly sidecar: "envoy" | "istio" | "linkerd" | "custom" | "auto";
  readonly isUnix: boolean;
  /** By the pod's annotations: it is waited for and drained, never quit. */
  readonly isNative: boolean;
  readonly proxy: ProxyPlan;
  readonly flags: Flags;
  readonly app: AppPlan;
  readonly signals: readonly SignalPlan[];
  /** Signals that ebb is started with blocked: its child is too, so that what comes too early waits for it. */
  readonly blocked: readonly number[];
}
