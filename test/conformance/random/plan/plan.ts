import { type Random, randomOf } from "../../../faults/plan/random.ts";
import type { Rival, Step } from "../../case.ts";
import type { AnswerName } from "../answers.ts";
import { planApp } from "./app.ts";
import { planEnvoyPreflight } from "./envoy-preflight.ts";
import { planLinkerd } from "./linkerd-await.ts";
import { planPilot } from "./pilot-agent.ts";
import { planScuttle } from "./scuttle.ts";
import { planStart } from "./start.ts";

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

const tools: Readonly<Record<Rival, (random: Random) => ToolPlan>> = {
  scuttle: planScuttle,
  "scuttle-redbox": planScuttle,
  "envoy-preflight": planEnvoyPreflight,
  "linkerd-await": planLinkerd,
  "pilot-agent": planPilot,
};

const salts: Readonly<Record<Rival, number>> = {
  scuttle: 0,
  "scuttle-redbox": 1,
  "envoy-preflight": 2,
  "linkerd-await": 3,
  "pilot-agent": 4,
};

/** All that happens in one run beside a tool, by chance from its seed alone. */
export function planOf(rival: Rival, seed: number): Plan {
  const random = randomOf(seed * 5 + salts[rival]);
  const { wait, isAlone, ...tool } = tools[rival](random);
  const app = isAlone ? { command: [], steps: [] } : planApp(random, wait);
  const start = planStart(random, app.steps);
  return { rival, seed, ...tool, ...app, ...start, env: { ...start.env, ...tool.env } };
}
