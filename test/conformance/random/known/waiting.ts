import type { AnswerName } from "../answers.ts";
import {
  type Facts,
  gaveUp,
  go,
  hasAlarmedAgent,
  isEarlier,
  isHung,
  isQuitLine,
  isQuitting,
  isRedirected,
  pilot,
  quitsInTime,
  scuttles,
  sentWhileWaiting,
  wasStuck,
  wrappers,
} from "../facts.ts";
import type { Known } from "./entry.ts";

const redirects: readonly AnswerName[] = ["301", "302 away"];

/**
 * The longest time between polls: linkerd-await drops an answer after 5 s, and pauses for 1 s; the others pause for
 * less.
 */
const LONGEST_PAUSE_MS = 6000;

/** How it shows that the command never starts, and that only ebb tells the sidecar to quit. */
const quitsAlone: Pick<Known, "shows" | "lines"> = {
  shows: { waited: quitsInTime, agent: hasAlarmedAgent },
  lines: { requests: isQuitLine },
};

/** The differences in how a tool waits. */
export const waiting: readonly Known[] = [
  {
    by: "sooner",
    rivals: [...wrappers, ...pilot],
    isHere: ({ plan, ours, theirs }) =>
      plan.servers.some(({ polls = [], afterMs }) => polls.length > 1 || afterMs !== undefined) &&
      ours.seen.started === theirs.seen.started &&
      !isHung(theirs),
    shows: { waited: (facts) => isEarlier(facts, LONGEST_PAUSE_MS) },
  },
  {
    by: "patience",
    rivals: pilot,
    isHere: ({ has, ours, theirs }) =>
      has("polls", "ready, late") && ours.seen.code === 0 && (theirs.seen.code === 255 || isHung(theirs)),
    shows: { code: () => true, waited: ({ ours, theirs }) => ours.waitedMs < theirs.waitedMs },
  },
  {
    by: "hanging-poll",
    rivals: go,
    isHere: ({ has, theirs }) => has("polls", "hangs") && (wasStuck(theirs) || gaveUp(theirs)),
    isAll: true,
  },
  {
    by: "hanging-poll",
    rivals: go,
    isHere: ({ has, ours, theirs }) =>
      has("polls", "hangs") && theirs.seen.started === "unready" && ours.seen.started === "when ready",
    shows: { started: () => true, waited: ({ ours, theirs }) => ours.waitedMs < theirs.waitedMs },
  },
  ...takenForReady("status", go, "live, but 500"),
  ...takenForReady("half-answer", ["linkerd-await"], "half"),
  {
    by: "redirect",
    rivals: ["scuttle", ...pilot],
    isHere: ({ has }) => has("polls", ...redirects) || has("others", ...redirects),
    lines: {
      requests: ({ text, of }) => of === "it" && isRedirected(text),
      polls: ({ text, of }) => of === "it" && / GET \/elsewhere$/.test(text),
    },
    shows: {
      // the rival fails after ten redirects, or if nobody listens at the place to which it is led
      code: ({ plan, ours, theirs }) => plan.flags[0] === "request" && ours.seen.code === 0 && theirs.seen.code === 255,
    },
  },
  {
    by: "stop-while-waiting",
    rivals: wrappers,
    isHere: (facts) => {
      const { code, started } = facts.ours.seen;
      const signal = sentWhileWaiting(facts.plan);
      return signal !== undefined && started === "no" && code === 128 + signal && wasEndedBy(signal, facts);
    },
    shows: {
      ...quitsAlone.shows,
      code: ({ ours, theirs }) => ours.seen.code !== theirs.seen.code,
      waited: (facts) => isUnnoticed(facts.theirs) || quitsInTime(facts),
    },
    lines: {
      requests: isQuitLine,
      // the rival had not come so far as to ask
      polls: ({ text, of }, { plan, theirs }) =>
        of === "ebb" &&
        theirs.seen.polls.length === 0 &&
        plan.servers.some(({ port, polls }) => polls !== undefined && text.startsWith(`${port} GET `)),
    },
  },
  {
    by: "wait-timeout",
    rivals: [...scuttles, "linkerd-await"],
    isHere: ({ ours, theirs }) => ours.seen.code === 69 && ours.seen.started === "no" && gaveUp(theirs),
    shows: { ...quitsAlone.shows, code: ({ theirs }) => theirs.seen.code === 1 },
    lines: { requests: isQuitLine },
  },
  {
    by: "bad-value",
    rivals: go,
    isHere: ({ plan, ours }) => plan.env.ENVOY_ADMIN_API === "nonsense" && isRefused(ours),
    isAll: true,
  },
];

/** Reports whether ebb refused the call: it did nothing, and exited with 64. */
export function isRefused({ seen }: Facts["ours"]): boolean {
  const { code, started, polls, requests, stdout } = seen;
  return code === 64 && started === "no" && polls.length + requests.length === 0 && stdout === "";
}

/**
 * Returns the difference of rivals that take an answer for ready, and start the command, while ebb goes on to wait:
 * until the proxy is ready, its time is over, or somebody ends it.
 */
function takenForReady(by: Known["by"], rivals: Known["rivals"], answer: AnswerName): readonly Known[] {
  const isTaken = ({ plan, has, theirs }: Facts) =>
    has("polls", answer) &&
    (theirs.seen.started === "unready" || (plan.command[0] !== "app" && theirs.seen.started === "no"));
  return [
    {
      by,
      rivals,
      isHere: (facts) => isTaken(facts) && facts.ours.seen.started === "when ready",
      shows: { started: () => true },
    },
    {
      by,
      rivals,
      isHere: (facts) => isTaken(facts) && facts.ours.seen.started === "unready",
      shows: { waited: ({ ours, theirs }) => ours.waitedMs > theirs.waitedMs },
    },
    {
      by,
      rivals,
      isHere: (facts) =>
        isTaken(facts) &&
        facts.ours.seen.started === "no" &&
        [69, 128 + (sentWhileWaiting(facts.plan) ?? Number.NaN)].includes(Number(facts.ours.seen.code)) &&
        isQuitting(facts),
      isAll: true,
    },
  ];
}

/**
 * Reports whether a signal ended a rival's wait. Go exits with 2 at SIGQUIT, and as PID 1; linkerd-await as PID 1 goes
 * on.
 */
function wasEndedBy(signal: number, { plan, theirs }: Facts): boolean {
  const { started, requests, code } = theirs.seen;
  if (started !== "no" || requests.some((line) => !isRedirected(line))) return false;
  if (plan.rival === "linkerd-await" && plan.isPid1 === true) return isUnnoticed(theirs);
  return code === (plan.rival !== "linkerd-await" && (plan.isPid1 === true || signal === 3) ? 2 : 128 + signal);
}

/** Reports whether a tool went on to wait: without end, or until it was out of time. */
function isUnnoticed(outcome: Facts["theirs"]): boolean {
  return wasStuck(outcome) || gaveUp(outcome);
}
