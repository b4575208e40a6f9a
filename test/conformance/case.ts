import type { Answer } from "./answers.ts";
import type { DifferenceId } from "./differences.ts";
import type { Rival, ToolName } from "./rivals.ts";

/** A server in the pod. */
export interface Server {
  readonly port: number;
  readonly host?: string;
  /** Its answers to readiness polls, one after the other; the last one repeats. */
  readonly polls?: readonly Answer[];
  /** Its answers to all other requests, one after the other; the last one repeats. */
  readonly others?: readonly Answer[];
  /** The milliseconds after which it listens. */
  readonly afterMs?: number;
  /** The ports that are closed once it has accepted a quit; by default its own. */
  readonly ends?: readonly number[];
}

/** Something to be done while the tool runs, once something else has happened. */
export interface Step {
  /** That many polls, signals or requests have come, or the command has started. */
  readonly once: { readonly polls: number } | { readonly signals: number } | { readonly requests: number } | "started";
  /** The milliseconds from then to the act. */
  readonly afterMs?: number;
  /** To send a signal to the tool, or to give the last answers of all servers to polls from then on. */
  readonly act: { readonly signal: number } | "ready";
}

/** What can be seen of a tool from outside. */
export interface Seen {
  /** The exit code as a shell reports it. */
  readonly code: number | "still running";
  /** Whether the command was started, and whether a server had said before that it was ready. */
  readonly started: "no" | "when ready" | "unready";
  /** `PORT METHOD PATH` of the polls, each once. */
  readonly polls: readonly string[];
  /** `PORT METHOD PATH[ BODY]` of all other requests, ordered by port; a repeated one is followed by ` again`. */
  readonly requests: readonly string[];
  /** The signals that the command got. */
  readonly signals: readonly number[];
  /** The signals that a process called pilot-agent got. */
  readonly agent: readonly number[];
  /** The tool's and the command's; the logs of tools are replaced by notes (notes.ts). */
  readonly stdout: string;
}

/** Something on which users of a tool may rely, and what is to be seen of ebb in the tool's place. */
export interface Case {
  readonly name: string;
  /** The tool whose place ebb takes. */
  readonly as: ToolName;
  readonly env?: Readonly<Record<string, string>>;
  /** The words between the tool's name and the command. */
  readonly flags?: readonly string[];
  /** The command; `app` stands for the application. By default the application exits with 0. */
  readonly command?: readonly string[];
  readonly stdin?: string;
  readonly servers?: readonly Server[];
  /** Whether a process called pilot-agent is in the pod. */
  readonly hasAgent?: true;
  /** Whether the tool is PID 1, as in a container. */
  readonly isPid1?: true;
  /** Whether requests count in the order in which they came, whatever their ports. */
  readonly isInOrder?: true;
  /** Whether it is about something that ebb alone has. */
  readonly isOwn?: true;
  readonly steps?: readonly Step[];
  readonly expect: Seen;
  /** Whether stdout only counts as `(some)` or none. */
  readonly hasOwnStdout?: true;
  /** Texts that ebb writes to stderr, among others; an empty list if it must write nothing. */
  readonly says?: readonly string[];
  /** The least time, in ms, until the command starts or, if it does not, the tool ends. */
  readonly atLeastMs?: number;
  /**
   * The most time, in ms, until the tool ends: much more than it takes, and less than without what the case is about.
   */
  readonly atMostMs?: number;
  /** Whether it takes seconds. */
  readonly isSlow?: true;
  /** What rivals do differently. */
  readonly differs?: readonly Differs[];
}

/** The fields of a case in which some rivals differ, by listed differences. */
export interface Differs {
  readonly rivals: readonly Rival[];
  readonly by: DifferenceId | readonly DifferenceId[];
  readonly sees: Partial<Seen>;
}
