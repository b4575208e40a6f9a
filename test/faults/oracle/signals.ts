import { endsWait, SIG, type SignalNumber, signalName, suspends } from "../../../src/shared/core/signal.ts";
import { type Case, SLACK_MS } from "../case.ts";
import type { Flags } from "../plan/planned.ts";
import { rewritten, stops } from "../plan/signals.ts";
import { readyAt } from "./ready.ts";

/** Judges that each signal that could reach the child did, at most as often as it was sent, and no other. */
export function judgeSignals({ plan, seen, log, app, broken }: Case): void {
  if (app === undefined) return;
  const left = seen.sent.map(({ signal }) => rewritten(signal, plan.flags));
  for (const { signal } of droppedIn(log)) remove(left, numberOf(signal, seen.sent));
  const endedAt = app.facts.find(({ what }) => /^(exit|raise) /.test(what))?.at ?? Number.POSITIVE_INFINITY;
  for (const { what, at } of app.facts) {
    const [word, text] = what.split(" ");
    const number = Number(text);
    const isOfGroupsEnd = plan.flags.isGroup && number === SIG.TERM && at >= endedAt;
    if (word === "signal" && !remove(left, number) && !isOfGroupsEnd)
      broken("always", `the app got signal ${number}, which nobody sent, or not so often`);
    if (word !== "missing") continue;
    const inTime = seen.sent.some((one) => rewritten(one.signal, plan.flags) === number && one.at < at - SLACK_MS);
    if (inTime) broken("always", `the app never got signal ${number}`);
  }
}

/** Removes a number once, and returns whether it was there. */
function remove(numbers: number[], number: number | undefined): boolean {
  const at = number === undefined ? -1 : numbers.indexOf(number);
  if (at >= 0) numbers.splice(at, 1);
  return at >= 0;
}

function droppedIn(log: Case["log"]): Case["log"] {
  return log.filter(({ msg }) => msg.startsWith("ebb: dropped a signal"));
}

function numberOf(name: unknown, sent: Case["seen"]["sent"]): SignalNumber | undefined {
  return sent.find(({ signal }) => signalName(signal) === name)?.signal;
}

/** The time, in ms, between events that may be read in either order. */
const AT_ONCE_MS = 10;

/**
 * Judges the signals that come before the command can be there: each ends the wait, or is dropped, which is said once.
 * One that ebb was started with blocked is kept for the command.
 */
export function judgeEarly({ plan, seen, log, app, broken }: Case): void {
  const said = droppedIn(log).map(({ signal }) => signal);
  const isKept = (signal: SignalNumber) => plan.blocked.includes(signal);
  for (const [index, name] of said.entries()) {
    const number = numberOf(name, seen.sent);
    if (said.indexOf(name) !== index) broken("always", `it says twice that it drops ${name}`);
    if (number === undefined) broken("always", `it dropped ${name}, which nobody sent`);
    else if (endsTheWait(number, plan.flags) || isKept(number)) broken("always", `it dropped ${name}`);
  }
  if (app === undefined) return;
  const earliest = readyAt({ plan, seen });
  const surelyMs = AT_ONCE_MS + seen.stalledMs;
  const early = seen.sent.filter(({ at }) => at < earliest - surelyMs).map(({ signal }) => signal);
  const isBoth = early.includes(SIG.CONT) && early.some(suspends); // the kernel takes one of them away (signal(7))
  for (const signal of early) {
    const name = signalName(signal);
    if (endsTheWait(signal, plan.flags)) broken("always", `${name} came during the wait, and the app was started`);
    else if (!isKept(signal) && !isBoth && !said.includes(name))
      broken("always", `${name} came during the wait, and nothing was said`);
  }
}

/** Reports whether a signal ends the wait: it asks a command to stop that is not there yet. */
export function endsTheWait(signal: SignalNumber, flags: Pick<Flags, "rewrite">): boolean {
  return endsWait(signal) || stops.includes(rewritten(signal, flags));
}
