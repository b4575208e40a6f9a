import type { Plan } from "./plan/planned.ts";

/** The most parts that are left out: enough for a plan, which has few. */
const ROUNDS = 8;

/**
 * Leaves parts out of a plan, one after the other, as long as the rest is still `isBad`, and resolves with that rest.
 */
export async function shrink(plan: Plan, isBad: (plan: Plan) => Promise<boolean>): Promise<Plan> {
  let best = plan;
  for (let round = 0; round < ROUNDS; round += 1) {
    const smaller = smallerOf(best);
    const verdicts = await Promise.all(smaller.map(isBad));
    const next = smaller[verdicts.indexOf(true)];
    if (next === undefined) return best;
    best = next;
  }
  return best;
}

/** Returns all plans with one part less. */
function smallerOf(plan: Plan): readonly Plan[] {
  const { stdin, isPid1, hasAgent, ...bare } = plan;
  const rest = { ...(stdin !== undefined && { stdin }), ...(isPid1 && { isPid1 }), ...(hasAgent && { hasAgent }) };
  const smaller: Plan[] = [];
  if (plan.launch.length > 0) smaller.push({ ...plan, launch: [] });
  if (stdin !== undefined) smaller.push({ ...bare, ...(isPid1 && { isPid1 }), ...(hasAgent && { hasAgent }) });
  if (isPid1) smaller.push({ ...bare, ...rest, isPid1: undefined as never });
  if (hasAgent) smaller.push({ ...bare, ...rest, hasAgent: undefined as never });
  for (const name of Object.keys(plan.env)) {
    smaller.push({ ...plan, env: Object.fromEntries(Object.entries(plan.env).filter(([other]) => other !== name)) });
  }
  plan.steps.forEach((_, at) => void smaller.push({ ...plan, steps: plan.steps.toSpliced(at, 1) }));
  plan.servers.forEach((_, at) => void smaller.push({ ...plan, servers: plan.servers.toSpliced(at, 1) }));
  if (plan.command[0] === "app" && plan.command.length > 3) {
    const ends = plan.command.at(-3) === "until" ? 3 : 2;
    if (plan.command.length > ends + 1) smaller.push({ ...plan, command: ["app", ...plan.command.slice(-ends)] });
  }
  return smaller;
}
