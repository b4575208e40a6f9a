import { type Random, randomOf } from "../../../random.ts";
import type { Rival } from "../../rivals.ts";
import { planApp } from "./app.ts";
import { planEnvoyPreflight } from "./envoy-preflight.ts";
import { planLinkerd } from "./linkerd-await.ts";
import { planPilot } from "./pilot-agent.ts";
import type { Plan, ToolPlan } from "./planned.ts";
import { planScuttle } from "./scuttle.ts";
import { planStart } from "./start.ts";

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

/** Plans all that happens in a run beside a tool; the same seed gives the same plan. */
export function planOf(rival: Rival, seed: number): Plan {
  const random = randomOf(seed * 5 + salts[rival]);
  const { wait, isAlone, ...tool } = tools[rival](random);
  const app = isAlone ? { command: [], steps: [] } : planApp(random, wait);
  const start = planStart(random, app.steps);
  return { rival, seed, ...tool, ...app, ...start, env: { ...start.env, ...tool.env } };
}
