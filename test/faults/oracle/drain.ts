import { endsCommand } from "../../../src/shared/core/signal.ts";
import { isDrainLine } from "../../harness/ebb.ts";
import { type Case, SLACK_MS } from "../case.ts";
import type { Endpoint } from "../plan/planned.ts";
import { rewritten, stops } from "../plan/signals.ts";
import type { Request } from "../proxy.ts";
import { isGood } from "./ready.ts";

/**
 * Judges the order of a drain's steps: health, after the minimum the listeners, then the counts; a native sidecar's
 * listeners come first. A stop is held meanwhile.
 */
export function judgeDrainRequests(one: Case): void {
  const { plan, seen, app, broken } = one;
  const [fail, drain, stats] = (["fail", "drain", "stats"] as const).map((endpoint) =>
    firstOf(seen.requests, endpoint),
  );
  const isAsked = fail !== undefined || drain !== undefined || stats !== undefined;
  if (plan.flags.drainMs === 0 && isAsked) broken("always", "it drained, but was not told to");
  const [first, second] = plan.isNative ? [drain, fail] : [fail, drain];
  if (second !== undefined && (first === undefined || first.at > second.at))
    broken("always", plan.isNative ? "health before the listeners of a native sidecar" : "listeners before health");
  if (stats !== undefined && (drain === undefined || drain.at > stats.at)) broken("always", "counted before draining");
  if (plan.command !== "drain" && plan.command !== "run") return;
  const begin = beginOf(one);
  if (begin === undefined) {
    if (isAsked) broken("always", "it drained before it was told to stop");
    return;
  }
  const [what, held] = plan.isNative ? ["it counted", stats] : ["the listeners drained", drain];
  if (held !== undefined && held.at - begin < minimumOf(one)) {
    broken("always", `${what} after ${Math.round(held.at - begin)} ms, not ${minimumOf(one)}`);
  }
  if (plan.command === "run" && app !== undefined) judgeHeld(one, begin);
}

/** Returns the minimum, in ms, before listeners drain. If the bound is near it is less, to leave time for the rest. */
function minimumOf({ plan: { flags } }: Case): number {
  return Math.min(flags.minDrainMs, 0.45 * flags.drainMs) - 2;
}

/** Returns the earliest time at which the drain can have begun; undefined if it was never due. */
function beginOf({ plan, seen }: Case): number | undefined {
  if (plan.command === "drain") return seen.startedAt;
  return stopsOf(plan.flags, seen.sent)[0]?.at;
}

function stopsOf(flags: Case["plan"]["flags"], sent: Case["seen"]["sent"]): Case["seen"]["sent"] {
  return sent.filter(({ signal }) => stops.includes(signal) || stops.includes(rewritten(signal, flags)));
}

/** Judges that the child hears of a stop only when a clean proxy is drained, unless another stop signal cuts that short. */
function judgeHeld(one: Case, begin: number): void {
  const { plan, seen, app, broken } = one;
  const { flags } = plan;
  const sent = stopsOf(flags, seen.sent);
  const held = new Set(sent.map(({ signal }) => rewritten(signal, flags)));
  const [first] = held;
  const noted = app?.facts.find(({ what }) => what === "noting");
  const heard = app?.facts.find(({ what }) => what.startsWith("signal ") && held.has(Number(what.split(" ")[1])));
  const ended = app?.facts.find(({ what }) => /^(exit|raise)/.test(what));
  if (flags.drainMs === 0 || noted === undefined || heard === undefined || noted.at > begin) return;
  const isCut = sent.some(({ signal, at }) => at <= heard.at && rewritten(signal, flags) !== first);
  const isOver = ended !== undefined && ended.at < heard.at;
  if (isCut || isOver || !isClean(plan, seen.doors)) return;
  const heldMs = heard.at - begin;
  if (heldMs < Math.min(flags.minDrainMs, 0.45 * flags.drainMs) - 2)
    broken("always", `the stop was held for ${Math.round(heldMs)} ms`);
  const steps = (["fail", "drain", "stats"] as const).filter(
    (endpoint) => firstOf(seen.requests, endpoint) === undefined,
  );
  if (steps.length > 0 && heldMs < flags.drainMs - 50)
    broken("always", `the app was stopped before ${steps.join(", ")}`);
}

/** Reports whether all of the proxy's admin interface answers well, from first to last. */
function isClean(plan: Case["plan"], doors: Case["seen"]["doors"]): boolean {
  const isWell = (["fail", "drain", "stats", "dump"] as const).every((endpoint) =>
    plan.proxy.endpoints[endpoint].every(({ answers }) => answers.every((answer) => isGood(answer))),
  );
  return isWell && doors.length === 1 && doors[0]?.state === "open";
}

function firstOf(requests: readonly Request[], endpoint: Endpoint): Request | undefined {
  return requests.find((request) => request.endpoint === endpoint);
}

/** Judges `ebb drain`: its exit code is 0 if nothing was left in flight, 69 if something was, and it ends in time. */
export function judgeDrain(one: Case): void {
  const { plan, seen, log, broken } = one;
  const { flags } = plan;
  const code = seen.code as number;
  const stopped = new Set(seen.sent.filter(({ signal }) => endsCommand(signal)).map(({ signal }) => 128 + signal));
  if (code !== 0 && code !== 69 && !stopped.has(code)) broken("always", `exit code ${code}`);
  const slackMs = SLACK_MS + 2 * seen.stalledMs;
  const tookMs = seen.endedAt - seen.startedAt;
  if (tookMs > flags.drainMs + slackMs) broken("time", `it took ${Math.round(tookMs)} ms`);
  const outcome = log.find(isDrainLine)?.outcome;
  const drained = outcome === "drained" || /^Envoy (had )?exited /.test(String(outcome));
  if (code === 0 && !drained) broken("always", `exit code 0, where the log says ${outcome}`);
  if (code === 69 && drained && !flags.thenQuit) broken("always", `exit code 69, where the log says ${outcome}`);
  judgeCounts(one, outcome);
  if (!isClean(plan, seen.doors) || stopped.size > 0) return;
  const idleAt = plan.proxy.inFlight.find(({ count }) => count <= flags.maxInFlight)?.fromMs;
  const slowMs = 1500 + flags.minDrainMs;
  const isEasy = idleAt !== undefined && idleAt + slowMs < flags.drainMs;
  if (isEasy && outcome !== "drained") broken("time", `idle, and yet: ${outcome}`);
  if (idleAt === undefined && outcome === "drained") broken("always", "it says drained, with work in flight");
}

/** Judges that ebb says "drained" only if a count said so. */
function judgeCounts({ plan, seen, broken }: Case, outcome: unknown): void {
  if (outcome !== "drained") return;
  const counts = seen.requests.filter(({ endpoint, wholeAt }) => endpoint === "stats" && wholeAt !== undefined);
  const isIdle = counts.some(({ inFlight, answer }) => isGood(answer) && inFlight <= plan.flags.maxInFlight);
  if (!isIdle) broken("always", "it says drained, but no count said so");
}
