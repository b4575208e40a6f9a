import type { AnswerName } from "../answers.ts";
import {
  type Facts,
  go,
  hasAlarmedAgent,
  isHung,
  isLocalName,
  isQuitLine,
  leavesInTime,
  ownCode,
  quitLines,
  quitsInTime,
  scuttles,
  staysOnceTold,
  wrappers,
} from "../facts.ts";
import type { Known } from "./entry.ts";

/** The answers after which a quit is sent again. */
const repeated: readonly AnswerName[] = ["500", "503", "closes", "resets", "garbage", "half", "hangs"];
/** The answers that take longer than others. */
const slow: readonly AnswerName[] = ["hangs", "quits, late"];

/** How it shows that ebb sends more quits, and takes the time that this needs. */
const tellsMore: Pick<Known, "shows" | "lines"> = {
  shows: { leaving: leavesInTime, waited: quitsInTime, agent: hasAlarmedAgent },
  lines: { requests: isQuitLine },
};

const later: Known["shows"] = { leaving: leavesInTime, waited: quitsInTime };

/** The differences in how a tool ends. */
export const leaving: readonly Known[] = [
  {
    by: "quit-again",
    rivals: wrappers,
    isHere: ({ ours, theirs, has }) =>
      ours.seen.requests.some((line) => line.endsWith(" again")) && has("others", ...repeated) && !isHung(theirs),
    shows: later,
    lines: { requests: (line, facts) => line.text.endsWith(" again") && isQuitLine(line, facts) },
  },
  {
    by: "nobody-listens",
    rivals: wrappers,
    isHere: ({ plan, ours }) =>
      quitLines(plan).some(
        (line) =>
          !ours.seen.requests.includes(line) && !plan.servers.some(({ port }) => port === Number(line.split(" ")[0])),
      ),
    shows: later,
  },
  {
    by: "nobody-listens",
    rivals: wrappers,
    // somebody listens later
    isHere: ({ plan }) => plan.servers.some(({ afterMs }) => afterMs !== undefined),
    shows: later,
    lines: { requests: isQuitLine },
  },
  { by: "watched", rivals: wrappers, isHere: ({ plan }) => staysOnceTold(plan), shows: later },
  {
    by: "quit-timeout",
    rivals: ["scuttle-redbox", "envoy-preflight", "linkerd-await"],
    isHere: ({ has, theirs }) => has("others", "hangs") && isHung(theirs) && theirs.seen.requests.length > 0,
    shows: {
      code: ({ plan, ours }) => ours.leavingMs === undefined || ours.seen.code === ownCode(plan),
      leaving: ({ ours, limitMs }) => Number(ours.leavingMs) <= limitMs,
      waited: ({ ours, limitMs }) => ours.leavingMs === undefined && ours.waitedMs <= limitMs,
    },
    lines: { requests: isQuitLine },
  },
  {
    by: "no-time-to-quit",
    rivals: ["scuttle"],
    isHere: ({ plan }) => plan.env.QUIT_REQUEST_TIMEOUT === "0",
    ...tellsMore,
  },
  {
    by: "one-by-one",
    rivals: ["scuttle"],
    isHere: ({ plan, has }) => plan.env.GENERIC_QUIT_ENDPOINTS?.includes(",") === true && has("others", ...slow),
    ...tellsMore,
  },
  {
    by: "envoy-told",
    rivals: scuttles,
    isHere: ({ plan }) => !plan.env.ISTIO_QUIT_API && plan.env.ENVOY_ADMIN_API?.includes("15000") === false,
    ...tellsMore,
  },
  {
    by: "pkill-first",
    rivals: ["scuttle-redbox"],
    isHere: ({ plan }) => !plan.env.ISTIO_QUIT_API,
    shows: {
      ...tellsMore.shows,
      agent: ({ plan, ours, theirs }) =>
        plan.hasAgent === true &&
        [ours, theirs].every(({ seen }) =>
          Bun.deepEquals(
            seen.agent.filter((n) => n !== 2),
            [],
          ),
        ),
    },
    lines: { requests: isQuitLine },
  },
  {
    by: "fallback",
    rivals: ["scuttle"],
    isHere: ({ plan }) =>
      plan.hasAgent === true && (!plan.env.ISTIO_QUIT_API || plan.env.ISTIO_FALLBACK_PKILL === "true"),
    shows: { ...later, agent: hasAlarmedAgent },
  },
  {
    by: "newer-variables",
    rivals: ["scuttle-redbox"],
    isHere: ({ plan }) => plan.env.GENERIC_QUIT_ONLY === "true",
    shows: {
      leaving: (facts) => leavesInTime(facts) || isSooner(facts),
      agent: (facts) => facts.ours.seen.agent.length === 0 || hasAlarmedAgent(facts),
    },
    lines: {
      requests: (line, facts) =>
        line.of === "it" ? / POST (\/agent)?\/quitquitquit( again)?$/.test(line.text) : isQuitLine(line, facts),
    },
  },
  {
    by: "newer-variables",
    rivals: ["scuttle-redbox"],
    isHere: ({ plan, has }) => Boolean(plan.env.QUIT_REQUEST_TIMEOUT) && has("others", ...slow),
    shows: { leaving: isSooner },
  },
  {
    by: "loopback",
    rivals: go,
    isHere: ({ plan }) =>
      isLocalName(plan.env.ENVOY_ADMIN_API) && !/127\.0\.0\.1|localhost/.test(plan.env.ENVOY_ADMIN_API ?? ""),
    ...tellsMore,
  },
];

function isSooner({ ours, theirs }: Facts): boolean {
  return Number(ours.leavingMs) < Number(theirs.leavingMs);
}
