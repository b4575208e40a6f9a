import type { Step } from "../../case.ts";
import type { Rival } from "../../rivals.ts";
import type { AnswerName } from "../answers.ts";

/** A server in the pod, as data. */
export interface PlannedServer {
  readonly port: number;
  readonly host?: string;
  readonly afterMs?: number;
  readonly polls?: readonly AnswerName[];
  readonly others?: readonly AnswerName[];
  readonly ends?: readonly number[];
}

/** One run beside a tool, all of it: as data, so that it can be made smaller and printed. */
export interface Plan {
  readonly rival: Rival;
  readonly seed: number;
  readonly env: Readonly<Record<string, string>>;
  readonly flags: readonly string[];
  /** `app` and its steps, or another command. */
  readonly command: readonly string[];
  readonly stdin?: string;
  readonly servers: readonly PlannedServer[];
  readonly steps: readonly Step[];
  readonly hasAgent?: true;
  readonly isPid1?: true;
  /** Settings of launch.c. */
  readonly launch: readonly string[];
}

/** What a tool's own part of a plan says. */
export interface ToolPlan extends Pick<Plan, "env" | "flags" | "servers"> {
  readonly hasAgent?: true;
  /** How the wait ends: by itself; only when somebody ends it; never in time, but by the tool's own limit. */
  readonly wait: "itself" | "stuck" | "limited";
  /** It runs no command at all. */
  readonly isAlone?: true;
}
