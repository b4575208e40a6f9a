import type { Environment } from "../../core/base/environment.ts";
import type { finding, logging, Settings } from "../../core/cli/options.ts";
import type { ChildExit } from "../../core/run/exit.ts";
import type { ShutdownPlan } from "../../core/run/shutdown-budget.ts";
import type { SignalNumber } from "../../core/run/signal.ts";
import type { Deadline, Event } from "../../core/run/supervision-steps.ts";
import type { QuitRequest } from "../../core/sidecars/sidecar.ts";
import type { Deadlines } from "../machine.ts";
import type { Log } from "../output/log.ts";
import type { Child, CommandLine } from "../process/child.ts";
import type { Queue } from "../queue.ts";
import type { Wait } from "../sidecars/waiting.ts";

export type RunSettings = Settings<(typeof finding | typeof logging)[number] | (typeof ofRun)[number]>;

/** The options that a run has beside those. */
export const ofRun = [
  "header",
  "waitTimeout",
  "onWaitTimeout",
  "noWait",
  "quitOn",
  "restartPolicy",
  "quitTimeout",
  "drain",
  "minDrain",
  "idle",
  "grace",
  "podGrace",
  "detect",
  "stopSignal",
  "signal",
  "group",
  "parentDeath",
  "expectExit",
  "terminationLog",
] as const;

/** What the actions of one run share. */
export interface Run {
  readonly env: Environment;
  readonly settings: RunSettings;
  readonly command: CommandLine;
  readonly log: Log;
  readonly queue: Queue<Event>;
  readonly shutdown: ShutdownPlan;
  readonly stopWaiting: AbortController;
  readonly cutDrain: AbortController;
  readonly deadlines: Deadlines<Deadline>;
  readonly since: { readonly wait: number; run?: number; drain?: number; drained?: number; quit?: number };
  wait?: Wait;
  /** Never rejects. Resolves when the drain, if there is one, has said what came of it. */
  draining?: Promise<unknown>;
  /** Never rejects. Resolves when the log has what came of taking back a former container's drain. */
  takingBack?: Promise<unknown>;
  isReady: boolean;
  child?: Child;
  exit?: ChildExit;
  /** Never rejects. Resolves when all that is left of the command has been killed. */
  killing?: Promise<unknown>;
  /** Where a quit was sent. */
  readonly asked: Set<QuitRequest["target"]>;
  readonly drop: (signal: SignalNumber) => void;
}
