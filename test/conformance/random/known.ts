import type { Rival } from "../case.ts";
import type { DifferenceId } from "../differences.ts";
import type { Outcome } from "../run.ts";
import { type Aspect, aspects } from "./compare.ts";
import { answeredQuits, type Facts, isHung, isSentWhileWaiting, sentLater, staysOnceTold } from "./facts.ts";

/** A difference on purpose, in which cases it may show, and in what. */
export interface Known {
  readonly by: DifferenceId;
  readonly rivals: readonly Rival[];
  readonly isHere: (facts: Facts) => boolean;
  readonly shows: readonly Aspect[];
}

const scuttles: readonly Rival[] = ["scuttle", "scuttle-redbox"];
const go: readonly Rival[] = [...scuttles, "envoy-preflight"];
const wrappers: readonly Rival[] = [...go, "linkerd-await"];
const pilot: readonly Rival[] = ["pilot-agent"];
const quitting: readonly Aspect[] = ["requests", "leaving", "agent"];
const ending: readonly Aspect[] = ["code", ...quitting];

const redirects = ["301", "302 away"] as const;

const waiting: readonly Known[] = [
  {
    by: "sooner",
    rivals: [...wrappers, ...pilot],
    isHere: ({ ours, theirs }) =>
      ours.waitedMs < theirs.waitedMs && ours.seen.started === theirs.seen.started && !isHung(theirs),
    shows: ["waited"],
  },
  {
    by: "patience",
    rivals: pilot,
    isHere: ({ has, ours }) => has("polls", "ready, late") && ours.seen.code === 0,
    shows: ["code", "waited", "stdout"],
  },
  {
    by: "hanging-poll",
    rivals: go,
    isHere: ({ has, theirs }) => has("polls", "hangs") && (isHung(theirs) || theirs.seen.started !== "when ready"),
    shows: aspects,
  },
  {
    by: "status",
    rivals: go,
    isHere: ({ has, theirs }) => has("polls", "live, but 500") && theirs.seen.started !== "no",
    shows: aspects,
  },
  {
    by: "half-answer",
    rivals: ["linkerd-await"],
    isHere: ({ has, theirs }) => has("polls", "half") && theirs.seen.started !== "no",
    shows: aspects,
  },
  {
    by: "redirect",
    rivals: ["scuttle", "pilot-agent"],
    isHere: ({ has }) => has("polls", ...redirects) || has("others", ...redirects),
    shows: ["requests", "polls", "code", "stdout", "waited", "leaving"],
  },
  {
    by: "stop-while-waiting",
    rivals: wrappers,
    isHere: ({ plan, ours }) => isSentWhileWaiting(plan) && ours.seen.started === "no" && Number(ours.seen.code) > 128,
    shows: aspects,
  },
  {
    by: "wait-timeout",
    rivals: [...scuttles, "linkerd-await"],
    isHere: ({ ours, theirs }) => ours.seen.code === 69 && [1, 69].includes(Number(theirs.seen.code)),
    shows: ["code", "requests", "agent"],
  },
  {
    by: "bad-value",
    rivals: go,
    isHere: ({ plan, ours }) => plan.env.ENVOY_ADMIN_API === "nonsense" && ours.seen.code === 64,
    shows: aspects,
  },
];

const running: readonly Known[] = [
  {
    by: "signal-death",
    rivals: wrappers,
    isHere: ({ ours, theirs }) => Number(ours.seen.code) > 128 && [255, 71].includes(Number(theirs.seen.code)),
    shows: ["code"],
  },
  {
    by: "first-instant",
    rivals: ["scuttle-redbox", "envoy-preflight"],
    // it ended by itself, told nobody to quit, passed no signal on; the command may not even have said that it was there
    isHere: ({ ours, theirs }) =>
      theirs.seen.code === 1 &&
      theirs.seen.requests.length + theirs.seen.signals.length === 0 &&
      ours.seen.code !== 1 &&
      ours.seen.started !== "no",
    shows: ["code", "started", ...quitting, "left", "stdout", "signals"],
  },
  {
    by: "first-instant",
    rivals: ["scuttle-redbox", "envoy-preflight"],
    isHere: ({ ours, theirs }) =>
      theirs.seen.requests.length > ours.seen.requests.length &&
      Bun.deepEquals(withoutAgain(theirs), withoutAgain(ours)),
    shows: ["requests"],
  },
  {
    by: "not-started",
    rivals: wrappers,
    isHere: ({ ours, theirs }) =>
      [126, 127].includes(Number(ours.seen.code)) && [2, 71].includes(Number(theirs.seen.code)),
    shows: ending,
  },
  {
    by: "no-command",
    rivals: go,
    isHere: ({ plan, ours }) => plan.command.length === 0 && ours.seen.code === 64,
    shows: aspects,
  },
  {
    by: "usage-code",
    rivals: ["linkerd-await"],
    isHere: ({ ours, theirs }) => ours.seen.code === 64 && theirs.seen.code === 2,
    shows: ["code"],
  },
  {
    by: "only-sigterm",
    rivals: ["linkerd-await"],
    isHere: ({ plan, theirs }) => sentLater(plan).some((signal) => signal !== 15) && theirs.seen.requests.length === 0,
    shows: ["code", "requests", "signals", "left", "leaving", "stdout"],
  },
  {
    by: "real-time",
    rivals: go,
    isHere: ({ plan }) => sentLater(plan).some((signal) => signal > 31),
    shows: ["code", "requests", "signals", "left", "leaving", "agent"],
  },
  {
    by: "ignored-signals",
    rivals: wrappers,
    isHere: ({ ours, theirs }) =>
      Bun.deepEquals(withoutSignals(ours), withoutSignals(theirs)) &&
      signalsIn(theirs).every((fact) => ours.given.includes(fact)),
    shows: ["given"],
  },
  {
    by: "stdout",
    rivals: [...scuttles, ...pilot],
    isHere: ({ theirs }) => theirs.seen.stdout.startsWith("(log)\n"),
    shows: ["stdout"],
  },
];

const leaving: readonly Known[] = [
  {
    by: "quit-again",
    rivals: wrappers,
    isHere: ({ ours, theirs, limitMs }) =>
      ours.seen.requests.some((line) => line.endsWith(" again")) &&
      !isHung(theirs) &&
      timeToQuit(ours) <= limitMs + (theirs.leavingMs === undefined ? theirs.waitedMs : 0),
    shows: ["requests", "leaving", "waited"],
  },
  {
    by: "nobody-listens",
    rivals: wrappers,
    isHere: ({ ours, theirs, limitMs }) =>
      [ours, theirs].every(({ seen }) => seen.requests.length === 0 && seen.code !== "still running") &&
      timeToQuit(ours) > timeToQuit(theirs) &&
      timeToQuit(ours) <= limitMs + timeToQuit(theirs),
    shows: ["leaving", "waited"],
  },
  {
    by: "watched",
    rivals: wrappers,
    isHere: ({ plan, ours, theirs, limitMs }) =>
      staysOnceTold(plan) &&
      timeToQuit(ours) > timeToQuit(theirs) &&
      timeToQuit(ours) <= limitMs + (theirs.leavingMs === undefined ? theirs.waitedMs : 0),
    shows: ["leaving", "waited"],
  },
  {
    by: "quit-timeout",
    rivals: ["scuttle-redbox", "envoy-preflight", "linkerd-await"],
    isHere: ({ has, theirs }) => has("others", "hangs") && isHung(theirs) && theirs.seen.requests.length > 0,
    shows: ["code", "leaving", "requests", "left"],
  },
  {
    by: "no-time-to-quit",
    rivals: ["scuttle"],
    isHere: ({ plan }) => plan.env.QUIT_REQUEST_TIMEOUT === "0",
    shows: quitting,
  },
  {
    by: "one-by-one",
    rivals: ["scuttle"],
    isHere: ({ plan, has }) =>
      plan.env.GENERIC_QUIT_ENDPOINTS?.includes(",") === true && has("others", "hangs", "quits, late"),
    shows: quitting,
  },
  {
    by: "envoy-told",
    rivals: scuttles,
    isHere: ({ plan }) => !plan.env.ISTIO_QUIT_API && plan.env.ENVOY_ADMIN_API?.includes("15000") === false,
    shows: quitting,
  },
  {
    by: "pkill-first",
    rivals: ["scuttle-redbox"],
    isHere: ({ plan }) => !plan.env.ISTIO_QUIT_API,
    shows: quitting,
  },
  {
    by: "fallback",
    rivals: ["scuttle"],
    isHere: ({ plan }) =>
      plan.hasAgent === true &&
      (!plan.env.ISTIO_QUIT_API || plan.env.ISTIO_FALLBACK_PKILL === "true") &&
      answeredQuits(plan) !== "taken",
    shows: ["agent", "leaving"],
  },
  {
    by: "newer-variables",
    rivals: ["scuttle-redbox"],
    isHere: ({ plan }) => plan.env.GENERIC_QUIT_ONLY === "true" || plan.env.QUIT_REQUEST_TIMEOUT !== undefined,
    shows: quitting,
  },
  {
    by: "loopback",
    rivals: go,
    isHere: ({ plan }) => /\[::1\]|127\.0\.0\.2/.test(plan.env.ENVOY_ADMIN_API ?? ""),
    shows: quitting,
  },
];

const requests: readonly Known[] = [
  {
    by: "request-code",
    rivals: pilot,
    isHere: ({ plan, ours, theirs }) =>
      plan.flags[0] === "request" && [1, 64, 69].includes(Number(ours.seen.code)) && theirs.seen.code === 255,
    shows: ["code", "stdout"],
  },
  {
    by: "newline",
    rivals: pilot,
    isHere: ({ ours, theirs }) => theirs.seen.stdout === `${ours.seen.stdout}\n`,
    shows: ["stdout"],
  },
  {
    by: "debug-port",
    rivals: pilot,
    isHere: ({ plan, theirs }) => plan.flags.join(" ").includes("8080") && theirs.seen.code === 255,
    shows: ["code", "stdout", "requests"],
  },
  {
    by: "not-found-passes",
    rivals: pilot,
    isHere: ({ ours, theirs, has }) => has("others", "404") && ours.seen.code === 1 && theirs.seen.code === 0,
    shows: ["code"],
  },
  {
    by: "wait-code",
    rivals: pilot,
    isHere: ({ plan, ours, theirs }) => plan.flags[0] === "wait" && ours.seen.code === 69 && theirs.seen.code === 255,
    shows: ["code"],
  },
];

export const known: readonly Known[] = [...waiting, ...running, ...leaving, ...requests];

export interface Explained {
  readonly left: readonly Aspect[];
  readonly by: readonly Known["by"][];
}

/** What of these aspects nothing explains, and what explains the others. */
export function unexplained(found: readonly Aspect[], facts: Facts): Explained {
  const here = known.filter(
    ({ rivals, isHere, shows }) =>
      rivals.includes(facts.plan.rival) && shows.some((aspect) => found.includes(aspect)) && isHere(facts),
  );
  const explained = new Set(here.flatMap(({ shows }) => shows));
  return { left: found.filter((aspect) => !explained.has(aspect)), by: here.map(({ by }) => by) };
}

/** Until the command was started where it was not: quitting is a part of that. */
function timeToQuit({ leavingMs, waitedMs }: Outcome): number {
  return leavingMs ?? waitedMs;
}

function withoutAgain({ seen }: Outcome): readonly string[] {
  return seen.requests.filter((request) => !request.endsWith(" again"));
}

const ofSignal = /^(ignored|blocked) /;

function withoutSignals({ given }: Outcome): readonly string[] {
  return given.filter((fact) => !ofSignal.test(fact)).sort();
}

/** Which signals the command ignores, which it blocks. */
function signalsIn({ given }: Outcome): readonly string[] {
  return given.filter((fact) => ofSignal.test(fact));
}
