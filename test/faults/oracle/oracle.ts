import { type LogLine, logOf } from "../../harness/ebb.ts";
import type { Case, Violation } from "../case.ts";
import type { Seen } from "../live.ts";
import type { Plan } from "../plan/planned.ts";
import { judgeDrain, judgeDrainRequests } from "./drain.ts";
import { judgeQuit, judgeQuits } from "./quit.ts";
import { judgeRun } from "./run.ts";
import { judgeWait } from "./wait.ts";

/**
 * Returns what the app must say first: the descriptors, and the blocked and ignored signals, with which ebb was
 * started.
 */
function givenOf({ blocked }: Plan): string {
  let mask = 0n;
  for (const signal of blocked) mask |= 1n << BigInt(signal - 1);
  return `start 0,1,2 ${mask.toString(16)} 0`;
}

const MOST_DESCRIPTORS = 64;

/** Judges a run by ebb's promises alone, and returns those that it broke. */
export function judgeAll(plan: Plan, seen: Seen): readonly Violation[] {
  const violations: Violation[] = [];
  const one: Case = {
    plan,
    seen,
    log: logOf(seen.stderr),
    app: seen.lives.find(({ facts }) => facts[0]?.what.startsWith("start ")),
    broken: (kind, what) => void violations.push({ kind, what }),
  };
  if (seen.code === undefined) {
    one.broken("time", `hung: killed after ${Math.round(seen.endedAt - seen.startedAt)} ms`);
    return violations;
  }
  judgeCommon(one);
  if (plan.command === "run") judgeRun(one);
  if (plan.command === "wait") judgeWait(one);
  if (plan.command === "quit") judgeQuit(one);
  if (plan.command === "drain") judgeDrain(one);
  judgeQuits(one);
  judgeDrainRequests(one);
  return violations;
}

function judgeCommon(one: Case): void {
  const { plan, seen, app, broken } = one;
  if (seen.signal !== null && plan.command !== "wait") broken("always", `ebb itself was ended by ${seen.signal}`);
  const [first] = app?.facts ?? [];
  if (first !== undefined && first.what !== givenOf(plan)) {
    broken("always", `the app was given "${first.what}", not "${givenOf(plan)}" (descriptors, blocked, ignored)`);
  }
  for (const { facts } of seen.lives) {
    for (const { what } of facts) if (/^(zombie|unstopped)/.test(what)) broken("always", `the app says: ${what}`);
  }
  judgeLeft(one);
  judgeOutput(one);
  if (seen.mostDescriptors > MOST_DESCRIPTORS) broken("always", `${seen.mostDescriptors} descriptors open`);
}

/**
 * Judges what is left of the app: never its own process. A daemon, which is a session of its own, is ended only by the
 * kernel, together with PID 1.
 */
function judgeLeft({ plan, seen, broken }: Case): void {
  for (const who of seen.left) if (who !== "daemon") broken("always", `left behind: ${who}`);
  const daemons = seen.lives.filter(({ facts }) => facts[0]?.what === "daemon").length;
  const left = seen.left.filter((who) => who === "daemon").length;
  if (plan.isPid1 || left === daemons) return;
  broken("always", `of ${daemons} daemons ${left} outlived ebb`);
}

function judgeOutput({ plan, seen, log, app, broken }: Case): void {
  const said = app?.facts.filter(({ what }) => what.startsWith("said ")).map(({ what }) => `${what.slice(5)}\n`) ?? [];
  const [first = ""] = plan.app.steps.filter((step) => step.startsWith("say:")).map((step) => `${step.slice(4)}\n`);
  const isDue = seen.stdout === said.join("");
  if (!isDue && seen.stdout !== first)
    broken("always", `stdout is not the app's: ${JSON.stringify(seen.stdout.slice(0, 200))}`);
  for (const line of seen.stderr.split("\n")) {
    // a command that fails says why in plain words
    if (line === "" || (plan.command !== "run" && line.startsWith("ebb: "))) continue;
    if (!isJson(line)) broken("always", `not a line of the log: ${JSON.stringify(line.slice(0, 200))}`);
  }
  for (const line of log) judgeLine(line, broken);
  if (/not ready within [^:"]*: ?("|$)/m.test(seen.stderr)) broken("always", "it was not ready, for no reason");
}

function isJson(line: string): boolean {
  try {
    return typeof JSON.parse(line) === "object";
  } catch {
    return false;
  }
}

function judgeLine(line: LogLine, broken: Case["broken"]): void {
  const text = JSON.stringify(line);
  if (typeof line.msg !== "string" || !/^(debug|info|warn|error)$/.test(line.level)) broken("always", `odd: ${text}`);
  if (typeof line.msg === "string" && /: ?$/.test(line.msg)) broken("always", `a sentence without its end: ${text}`);
  for (const field of ["reason", "outcome"]) {
    if (field in line && (typeof line[field] !== "string" || /(^|: ?)$/.test(line[field]))) {
      broken("always", `no ${field}: ${text}`);
    }
  }
  if (/a bug in ebb/.test(text)) broken("always", text);
}
