import type { Step } from "../../case.ts";
import type { Rival } from "../../rivals.ts";
import type { AnswerName } from "../answers.ts";

/** A server in the pod, as in case.ts, but with the names of its answers. */
export interface PlannedServer {
  readonly port: number;
  readonly host?: string;
  readonly afterMs?: number;
  readonly polls?: readonly AnswerName[];
  readonly others?: readonly AnswerName[];
  readonly ends?: readonly number[];
}

/** All of a run beside a tool, as data, so that it can be made smaller and printed. */
export interface Plan {
  readonly rival: Rival;
  readonly seed: number;
  readonly env: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
  /** The command: `app` and its steps, or another one. */
  readonly command: readonly string[];
  readonly stdin?: string;
  readonly servers: readonly PlannedServer[];
  readonly steps: readonly Step[];
  readonly hasAgent?: true;
  readonly isPid1?: true;
  /** The settings for launch.c. */
  readonly launch: readonly string[];
}

/** The part of a plan that is about a tool. */
export interface ToolPlan extends Pick<Plan, "env" | "flags" | "servers"> {
  readonly hasAgent?: true;
  /** How the wait ends: by itself, only if somebody ends it (`stuck`), or by the tool's own limit. */
  readonly wait: "itself" | "stuck" | "limited";
  /** Whether it runs no command at all. */
  readonly isAlone?: true;
}
