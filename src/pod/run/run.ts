import type { Values } from "../../shared/cli/core/option.ts";
import type { OptionsOf } from "../../shared/cli/core/options.ts";
import type { Environment } from "../../shared/core/environment.ts";
import type { ChildExit } from "../../shared/core/exit.ts";
import type { SignalNumber } from "../../shared/core/signal.ts";
import type { Queue } from "../../shared/io/queue.ts";
import type { Log } from "../../shared/output/log.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import type { Deadlines } from "../machine.ts";
import type { Child, CommandLine } from "../process/child.ts";
import type { Wait } from "../wait/waiting.ts";
import type { Deadline, Event } from "./core/supervision-steps.ts";
import type { FittingShutdown } from "./drain.ts";
import type { Membership } from "./peers.ts";

/** The values of all options of `ebb run`. */
type RunSettings = Values<OptionsOf<"run">>;

/** The state of one `ebb run` outside its state machine, as its actions read and change it. */
export interface Run {
  readonly env: Environment;
  readonly settings: RunSettings;
  readonly command: CommandLine;
  readonly log: Log;
  readonly queue: Queue<Event>;
  readonly shutdown: FittingShutdown;
  readonly stopWaiting: AbortController;
  readonly cutDrain: AbortController;
  readonly restarted: Set<Sidecar["name"]>;
  /** The sidecars that a drain has seen alive. */
  readonly alive: Set<Sidecar["name"]>;
  readonly deadlines: Deadlines<Deadline>;
  /** When each phase began (performance.now()). */
  readonly since: { readonly wait: number; run?: number; drain?: number; drained?: number; quit?: number };
  /** This container among the app containers of the pod; undefined without `--last-of`. Set here. */
  joining?: Promise<Membership | undefined>;
  wait?: Wait;
  /** What ebb ends after: the outcome of each is logged once it resolves. None rejects. */
  readonly endsAfter: Promise<unknown>[];
  /** This `ebb run` owns the sidecars, stands beside the container's first process, which does, or serves none. */
  readonly ownership: "owner" | "beside" | "none";
  /** Whether the sidecars have been up. */
  isReady: boolean;
  /** Whether a stop signal has come. */
  isToEnd: boolean;
  /** Whether the run of the command is announced (pod/announce). */
  isAnnounced?: boolean;
  /** The sidecars whose agent had not got its SIGTERM when the command started. */
  agents?: readonly Sidecar[];
  child?: Child;
  /** The grace that the command has, once it has begun. */
  graceMs?: number;
  /** How the child ended. */
  exit?: ChildExit;
  /** Drops a signal because there is no child yet. */
  readonly drop: (signal: SignalNumber) => void;
}
