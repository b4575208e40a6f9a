import { type Case, SLACK_MS } from "../case.ts";
import type { Flags } from "../plan/planned.ts";
import { rewritten, stops } from "../plan/signals.ts";
import { justification, missedReadiness } from "./ready.ts";
import { endsTheWait, judgeEarly, judgeSignals } from "./signals.ts";
import type { Fact } from "./witness.ts";

/**
 * Judges `ebb run`: its exit code tells the child's end, and a child is started only if all is ready, or need not be.
 */
export function judgeRun(one: Case): void {
  const { seen, broken, app } = one;
  const possible = app === undefined ? codesWithoutApp(one) : codesOf(one, app.facts);
  if (!possible.has(seen.code as number)) {
    broken("always", `exit code ${seen.code}, where only ${[...possible].join(", ") || "none"} is honest`);
  }
  if (app !== undefined) {
    const why = justification(one, app.facts[0] as Fact);
    if (why === undefined) broken("always", "the app was started, but nothing was ready");
  }
  if (app === undefined && seen.code === 69) missedReadiness(one);
  judgeLastLine(one);
  judgeSignals(one);
  judgeEarly(one);
  judgeTimes(one);
}

/** Returns the exit codes that are honest after the child's last word; without one a signal ended the child. */
function codesOf({ plan: { flags }, seen, log }: Case, facts: readonly Fact[]): ReadonlySet<number> {
  const codes = new Set<number>();
  const last = facts.findLast(({ what }) => /^(exit|raise) /.test(what));
  const [word, number] = last?.what.split(" ") ?? [];
  if (word === "exit") codes.add(expected(Number(number), flags));
  if (word === "raise") codes.add(expected(128 + Number(number), flags));
  const wasKilled = log.some(({ msg }) => msg.includes("SIGKILL"));
  if (flags.graceMs !== undefined && wasKilled) codes.add(expected(137, flags));
  const isNoting = facts.some(({ what }) => what === "noting") && last === undefined;
  // a signal forwarded to a child that does not catch it yet, or no longer, may end the child
  if (!isNoting) for (const { signal } of seen.sent) codes.add(expected(128 + rewritten(signal, flags), flags));
  return codes;
}

function expected(code: number, { expectExit }: Flags): number {
  return expectExit.includes(code) ? 0 : code;
}

function codesWithoutApp(one: Case): ReadonlySet<number> {
  const { plan, seen, log } = one;
  const { flags } = plan;
  const codes = new Set<number>();
  const tookMs = seen.endedAt - seen.startedAt;
  const isReady = justification(one, undefined) !== undefined;
  if (plan.app.kind === "not found" && isReady) codes.add(127);
  if (plan.app.kind === "not executable" && isReady) codes.add(126);
  const hasTimedOut = !flags.noWait && flags.onWaitTimeout === "fail" && tookMs >= flags.waitMs - 2;
  if (hasTimedOut) codes.add(69);
  for (const { signal } of seen.sent) {
    if (endsTheWait(signal, flags)) codes.add(128 + signal);
  }
  // the child may have been ended in its first instant, before it could say a word
  const wasStarted = log.some(({ msg }) => msg === "ebb: started the command");
  if (wasStarted) for (const { signal } of seen.sent) codes.add(expected(128 + rewritten(signal, flags), flags));
  return codes;
}

function judgeLastLine({ seen, log, app, broken }: Case): void {
  const last = log.at(-1);
  if (last?.msg !== "ebb: done") return broken("always", `the last line is not the summary: ${JSON.stringify(last)}`);
  if (last.exitCode !== seen.code) broken("always", `the log says ${last.exitCode}, the exit code is ${seen.code}`);
  const raised = app?.facts.at(-1)?.what === "raise 9";
  if (raised && last.signal !== "SIGKILL") broken("always", `the log says signal ${last.signal}, it was SIGKILL`);
  if (app !== undefined && !log.some(({ msg }) => msg === "ebb: started the command"))
    broken("always", "no word of the start");
}

/** Judges that ebb ends soon after the app, and that the app hears of a stop soon after ebb. */
function judgeTimes({ plan: { flags }, seen, app, broken }: Case): void {
  const slackMs = SLACK_MS + 2 * seen.stalledMs;
  const last = app?.facts.at(-1);
  if (last !== undefined && /^(exit|raise)/.test(last.what)) {
    const tookMs = seen.endedAt - last.at;
    if (tookMs > flags.quitMs + slackMs) broken("time", `${Math.round(tookMs)} ms from the app's end to ebb's`);
  }
  const firstStop = seen.sent.find(({ signal }) => stops.includes(rewritten(signal, flags)));
  const heard = app?.facts.find(({ what }) => what.startsWith("signal ") && stops.includes(Number(what.split(" ")[1])));
  if (firstStop === undefined || heard === undefined) return;
  const lateMs = heard.at - firstStop.at;
  if (lateMs > flags.drainMs + slackMs)
    broken("time", `the stop signal reached the app after ${Math.round(lateMs)} ms`);
}
