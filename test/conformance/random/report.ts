import type { Outcome } from "../run.ts";
import { type Aspect, valueIn } from "./compare.ts";
import type { Plan } from "./plan/planned.ts";

/** Describes a plan in lines, with all that is needed to see it by hand; long values are cut. */
export function describePlan({ seed, rival, env, flags, command, ...plan }: Plan): readonly string[] {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${short(JSON.stringify(value))}`);
  const words = [...flags, ...command].map((word) => short(JSON.stringify(word)));
  const lines = [
    `seed ${seed} of ${rival}`,
    `environment: ${variables.join(" ") || "none"}`,
    `arguments: ${words.join(" ") || "none"}`,
  ];
  for (const { port, host = "127.0.0.1", afterMs, polls, others, ends } of plan.servers) {
    const parts = [polls && `polls: ${polls.join(", ")}`, others && `others: ${others.join(", ")}`];
    const when = afterMs === undefined ? "" : ` after ${afterMs} ms`;
    const closing = ends === undefined || ends.length === 0 ? "" : `; a quit closes ${ends.join(" ")}`;
    lines.push(`server ${host}:${port}${when}: ${parts.filter(Boolean).join("; ")}${closing}`);
  }
  for (const step of plan.steps) lines.push(`step: ${JSON.stringify(step)}`);
  if (plan.stdin !== undefined) lines.push(`stdin: ${short(JSON.stringify(plan.stdin))}`);
  if (plan.launch.length > 0) lines.push(`started with: ${plan.launch.join(" ")}`);
  if (plan.isPid1) lines.push("as PID 1");
  if (plan.hasAgent) lines.push("a process called pilot-agent is in the pod");
  return lines;
}

/** Describes how two runs differ in an aspect. */
export function describeDifference(aspect: Aspect, ours: Outcome, theirs: Outcome): string {
  if (aspect !== "given") return `${aspect}: ebb ${say(valueIn(aspect, ours))}, it ${say(valueIn(aspect, theirs))}`;
  const lost = (a: Outcome, b: Outcome) => a.given.filter((fact) => !b.given.includes(fact)).map((fact) => short(fact));
  return `given: ebb's alone ${say(lost(ours, theirs))}, its alone ${say(lost(theirs, ours))}`;
}

function say(value: unknown): string {
  if (typeof value === "number" && !Number.isInteger(value)) return `${value.toFixed(0)} ms`;
  return short(JSON.stringify(value) ?? "none", 300);
}

function short(text: string, most = 100): string {
  return text.length > most ? `${text.slice(0, most)}... (${text.length})` : text;
}
