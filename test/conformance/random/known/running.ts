import {
  type Facts,
  go,
  hasAlarmedAgent,
  isHung,
  isQuitLine,
  isRedirected,
  type Line,
  ownCode,
  quitsInTime,
  sentLater,
  wrappers,
} from "../facts.ts";
import type { Known } from "./entry.ts";
import { isRefused } from "./waiting.ts";

/** The signals that Go's runtime unblocks for the command (seen of each signal, Go 1.26). */
const unblocked = [1, 2, 3, 4, 5, 6, 7, 8, 11, 15, 16, 17, 23, 27, 31, 34];

/** The differences in how a command is started and runs. */
export const running: readonly Known[] = [
  {
    by: "signal-death",
    rivals: wrappers,
    isHere: ({ plan, ours, theirs }) =>
      Number(ours.seen.code) > 128 &&
      ours.seen.code === ownCode(plan) &&
      theirs.seen.code === (plan.rival === "linkerd-await" ? 71 : 255),
    shows: { code: () => true },
  },
  ...firstInstant(),
  {
    by: "not-started",
    rivals: wrappers,
    isHere: ({ plan, ours, theirs }) =>
      ours.seen.code === (["/etc/passwd", "/"].includes(plan.command[0] ?? "") ? 126 : 127) &&
      theirs.seen.code === (plan.rival === "linkerd-await" ? 71 : 2) &&
      (theirs.seen.requests.every(isRedirected) || plan.rival === "linkerd-await"),
    shows: { code: () => true, waited: quitsInTime, agent: hasAlarmedAgent },
    lines: { requests: isQuitLine },
  },
  {
    by: "no-command",
    rivals: go,
    isHere: ({ plan, ours, theirs }) =>
      plan.command.length === 0 &&
      isRefused(ours) &&
      theirs.seen.requests.length === 0 &&
      (theirs.seen.code === 0 || theirs.seen.started === "no"),
    isAll: true,
  },
  {
    by: "usage-code",
    rivals: ["linkerd-await"],
    isHere: ({ ours, theirs }) => isRefused(ours) && theirs.seen.code === 2 && theirs.seen.polls.length === 0,
    shows: { code: () => true },
  },
  onlySigterm(),
  {
    by: "ignored-signals",
    rivals: wrappers,
    isHere: () => true,
    lines: {
      given: ({ text, of }, { plan }) =>
        of === "ebb" &&
        settings(plan, "ignore").some((number) => text === `ignored ${number}`) &&
        (plan.rival !== "linkerd-await" || text === "ignored 13"),
    },
  },
  {
    by: "blocked-signals",
    rivals: go,
    isHere: () => true,
    lines: {
      given: ({ text, of }, { plan }) =>
        of === "ebb" &&
        settings(plan, "block").some((number) => text === `blocked ${number}` && unblocked.includes(number)),
    },
  },
];

function settings({ launch }: Facts["plan"], name: string): readonly number[] {
  return launch.flatMap((word, at) => (word === name ? [Number(launch[at + 1])] : []));
}

/** Returns what each of the three rivals in Go does now and then, in any case. */
function firstInstant(): readonly Known[] {
  const isExitOf = (code: number, { theirs: { seen } }: Facts) =>
    seen.code === code && seen.requests.length + seen.signals.length + seen.agent.length === 0;
  const isRun = ({ plan, ours }: Facts) => plan.command.length > 0 && !isRefused(ours);
  return [
    {
      by: "first-instant",
      rivals: ["envoy-preflight"],
      // it ends with 1 and does not quit, which is not what it does at the end of this command
      isHere: (facts) =>
        isRun(facts) &&
        isExitOf(1, facts) &&
        (ownCode(facts.plan) !== 1 || facts.plan.env.ALWAYS_KILL_ENVOY === "true") &&
        facts.ours.seen.code === (ownCode(facts.plan) ?? facts.ours.seen.code),
      isAll: true,
    },
    {
      by: "first-instant",
      rivals: ["scuttle-redbox"],
      isHere: (facts) => isRun(facts) && facts.plan.env.NEVER_KILL_ISTIO_ON_FAILURE === "true" && isExitOf(1, facts),
      isAll: true,
    },
    {
      by: "first-instant",
      rivals: ["scuttle-redbox"],
      isHere: isRun,
      lines: { requests: (line, facts) => line.of === "it" && isSecond(line, facts) },
    },
    {
      by: "first-instant",
      rivals: go,
      isHere: (facts) => {
        const [signal = Number.NaN] = sentLater(facts.plan);
        return isRun(facts) && isExitOf(facts.plan.isPid1 === true ? 2 : 128 + signal, facts);
      },
      isAll: true,
    },
  ];
}

function isSecond({ text }: Line, { theirs }: Facts): boolean {
  return text.endsWith(" again") && theirs.seen.requests.includes(text.slice(0, -" again".length));
}

const SIGWINCH = 28;

/**
 * Returns the difference of linkerd-await, which a signal other than SIGTERM ends. If the kernel drops the signal (as
 * PID 1; SIGWINCH), the command never gets it.
 */
function onlySigterm(): Known {
  return {
    by: "only-sigterm",
    rivals: ["linkerd-await"],
    isHere: ({ plan, ours, theirs }) => {
      const other = sentLater(plan).find((signal) => signal !== 15);
      if (other === undefined || ours.seen.started === "no" || theirs.seen.requests.length > 0) return false;
      const isDropped = plan.isPid1 === true || other === SIGWINCH;
      return isDropped ? isHung(theirs) : theirs.seen.code === 128 + other;
    },
    shows: {
      code: ({ plan, ours }) => ours.seen.code === ownCode(plan),
      signals: ({ plan, ours, theirs }) =>
        Bun.deepEquals(ours.seen.signals, sentLater(plan)) &&
        theirs.seen.signals.every((signal, at) => signal === ours.seen.signals[at]),
      left: ({ plan, ours, theirs }) =>
        ours.left < theirs.left && theirs.left === (plan.command.includes("fork") ? 2 : 1),
    },
    lines: { requests: isQuitLine },
  };
}
