import type { Answer } from "./answers.ts";
import type { DifferenceId } from "./differences.ts";
import type { Personality, Rival } from "./rivals.ts";

/** A server in the pod. */
export interface Server {
  readonly port: number;
  readonly host?: string;
  /** Its answers to readiness polls, one after the other; the last stays. */
  readonly polls?: readonly Answer[];
  /** Its answers to everything else. */
  readonly others?: readonly Answer[];
  /** Listens only after so many milliseconds. */
  readonly afterMs?: number;
  /** The ports that are closed once it has answered a quit with 200. */
  readonly ends?: readonly number[];
}

/** Something that is done while the tool runs, once it has come so far. */
export interface Step {
  readonly once:
    | { readonly polls: number }
    | { readonly signals: number }
    | { readonly requests: number }
    /** So many milliseconds after the tool. */
    | { readonly ms: number }
    | "started";
  /** And so many milliseconds later. */
  readonly afterMs?: number;
  /** This signal is sent to the tool, or all servers' last answers are given from now on. */
  readonly act: { readonly signal: number } | "ready";
}

/** What can be seen of a tool from outside. */
export interface Seen {
  /** As a shell has it. */
  readonly code: number | "still running";
  /** Whether the command was started: no; after a server said that it was ready; without. */
  readonly started: "no" | "when ready" | "unready";
  /** `PORT METHOD PATH` of the polls, each once. */
  readonly polls: readonly string[];
  /** `PORT METHOD PATH[ BODY]` of all other requests, by port, and for each port in order. */
  readonly requests: readonly string[];
  /** The signals that the command got. */
  readonly signals: readonly number[];
  /** The signals that a process called pilot-agent got. */
  readonly agent: readonly number[];
  readonly stdout: string;
}

export interface Case {
  readonly name: string;
  readonly as: Personality;
  readonly env?: Readonly<Record<string, string>>;
  /** What stands between the tool's name and the command. */
  readonly flags?: readonly string[];
  /** `app` stands for the application, with its file; default: it exits with 0. */
  readonly command?: readonly string[];
  readonly stdin?: string;
  /** Settings of random/launch.c, with which the tool is started. */
  readonly launch?: readonly string[];
  readonly servers?: readonly Server[];
  /** A process called pilot-agent is in the pod. */
  readonly hasAgent?: true;
  /** The tool is PID 1, as in a container. */
  readonly isPid1?: true;
  /** The requests count in the order in which they came, whatever their ports. */
  readonly isInOrder?: true;
  /** It is about what ebb alone has. */
  readonly isOwn?: true;
  readonly steps?: readonly Step[];
  readonly expect: Seen;
  /** Of stdout it counts alone whether there is any: `(some)`. */
  readonly hasOwnStdout?: true;
  /** What ebb says on stderr, among other things; none: nothing at all. */
  readonly says?: readonly string[];
  /** The command starts, or where it does not the tool ends, after this many milliseconds. */
  readonly atLeastMs?: number;
  /** The tool ends within this many. Much more than it takes, and less than if what the case is about were missing. */
  readonly atMostMs?: number;
  /** It takes seconds. */
  readonly isSlow?: true;
  /** What rivals do otherwise. */
  readonly differs?: readonly Differs[];
}

export interface Differs {
  readonly rivals: readonly Rival[];
  readonly by: DifferenceId | readonly DifferenceId[];
  readonly sees: Partial<Seen>;
}
