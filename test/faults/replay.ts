import type { Violation } from "./case.ts";
import type { Seen } from "./live.ts";
import type { Plan } from "./plan/planned.ts";

/**
 * Describes a run for a reader: its plan, what happened in its order, ebb's log, the verdict. Most bad probes are left
 * out.
 */
export function describe(plan: Plan, seen: Seen, violations: readonly Violation[]): string {
  const { proxy, ...rest } = plan;
  return [
    `seed ${plan.seed}`,
    ...Object.entries(rest).map(([name, value]) => `  ${name}: ${JSON.stringify(value)}`),
    `  doors: ${JSON.stringify(proxy.doors)}`,
    `  inFlight: ${JSON.stringify(proxy.inFlight)}`,
    ...Object.entries(proxy.endpoints).map(([name, phases]) => `  ${name}: ${JSON.stringify(phases)}`),
    "what happened",
    ...happened(seen),
    `stdout: ${JSON.stringify(seen.stdout)}`,
    "log",
    ...seen.stderr
      .trimEnd()
      .split("\n")
      .map((line) => `  ${line}`),
    violations.length === 0 ? "all as promised" : "broken",
    ...violations.map(({ kind, what }) => `  ${kind}: ${what}`),
  ].join("\n");
}

const MOST_PROBES = 3;

function happened(seen: Seen): readonly string[] {
  const events: (readonly [at: number, what: string])[] = [[seen.startedAt, `ebb is started, pid ${seen.pid}`]];
  for (const { at, state } of seen.doors) events.push([at, `the proxy is ${state}`]);
  for (const { at, signal } of seen.sent) events.push([at, `signal ${signal} to ebb`]);
  let probes = 0;
  for (const { at, method, path, endpoint, answer, wholeAt, inFlight } of seen.requests) {
    if (endpoint === "ready") probes += 1;
    if (endpoint === "ready" && probes > MOST_PROBES && !answer.kind.startsWith("ok")) continue;
    const count = endpoint === "stats" ? `, ${inFlight} in flight` : "";
    const end = wholeAt === undefined ? "" : `, whole after ${(wholeAt - at).toFixed(1)}`;
    events.push([at, `${method} ${path.split("?")[0]}: ${JSON.stringify(answer)}${count}${end}`]);
  }
  for (const { facts, endedAt } of seen.lives) {
    for (const { at, pid, what } of facts) events.push([at, `app ${pid}: ${what}`]);
    if (endedAt !== undefined) events.push([endedAt, `app ${facts[0]?.pid}: its end was seen`]);
  }
  events.push([seen.endedAt, `ebb has ended: ${seen.code ?? "killed"} (${seen.signal ?? "no signal"})`]);
  events.sort(([one], [other]) => one - other);
  const lines = events.map(([at, what]) => `  ${(at - seen.startedAt).toFixed(1).padStart(8)} ms  ${what}`);
  const most = `at most ${seen.mostDescriptors} descriptors, ${seen.mostConnections} connections`;
  return [...lines, `  ${probes} probes, ${most}, stood still for ${seen.stalledMs.toFixed(0)} ms`];
}
