import { endsWait } from "../../../src/shared/core/signal.ts";
import { type Case, SLACK_MS } from "../case.ts";
import { justification, missedReadiness } from "./ready.ts";
import { judgeEarly } from "./signals.ts";
import type { Fact } from "./witness.ts";

/**
 * Judges `ebb wait`: its exit code is 0, or the command's own, if all was ready, otherwise 69. The command takes ebb's
 * place, with its pid.
 */
export function judgeWait(one: Case): void {
  const { plan, seen, app, broken } = one;
  const { flags } = plan;
  const tookMs = seen.endedAt - seen.startedAt;
  const isReady = justification(one, app?.facts[0]) !== undefined;
  const possible = new Set<number>();
  for (const { signal } of seen.sent) if (endsWait(signal)) possible.add(128 + signal);
  if (flags.onWaitTimeout === "fail" && tookMs >= flags.waitMs - 2) possible.add(69);
  if (app !== undefined) addEnd(one, app.facts, possible);
  else if (isReady) {
    if (plan.app.kind === "none") possible.add(0);
    if (plan.app.kind === "not found") possible.add(127);
    if (plan.app.kind === "not executable") possible.add(126);
    // it became the command, which was ended before it could say a word
    if (plan.app.kind === "steps") for (const { signal } of seen.sent) possible.add(128 + signal);
  }
  const code = seen.code as number;
  if (!possible.has(code))
    broken("always", `exit code ${code}, where only ${[...possible].join(", ") || "none"} is honest`);
  if (app !== undefined && !isReady) broken("always", "the command was started, but nothing was ready");
  if (app !== undefined && app.pid !== seen.pid)
    broken("always", `the command is process ${app.pid}, ebb was ${seen.pid}`);
  if (app === undefined && code === 69) missedReadiness(one);
  judgeEarly(one);
  const slackMs = SLACK_MS + 2 * seen.stalledMs;
  if (app === undefined && tookMs > flags.waitMs + slackMs) broken("time", `it took ${Math.round(tookMs)} ms`);
}

function addEnd({ seen }: Case, facts: readonly Fact[], possible: Set<number>): void {
  const last = facts.findLast(({ what }) => /^(exit|raise) /.test(what));
  const [word, number] = last?.what.split(" ") ?? [];
  if (word === "exit") possible.add(Number(number));
  if (word === "raise") possible.add(128 + Number(number));
  for (const { signal } of seen.sent) possible.add(128 + signal);
}
