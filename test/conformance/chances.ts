import type { Case, Seen } from "./case.ts";
import type { DifferenceId } from "./differences.ts";
import type { Rival } from "./rivals.ts";

/** Something that a rival does now and then in some cases, and exactly what is accepted then. */
interface Chance {
  readonly by: DifferenceId;
  readonly rivals: readonly Rival[];
  /** What it is, in words. */
  readonly when: string;
  /** Returns what may be seen then in place of the usual; nothing if it cannot happen in this case. */
  readonly sees: (given: Case, usual: Seen) => readonly Partial<Seen>[];
}

const none: readonly Partial<Seen>[] = [];

/** Returns what is seen if a tool ends and tells nobody; its command may not have come to its first word, or output. */
function endsEarly(code: number): readonly Partial<Seen>[] {
  const early = { code, requests: [], signals: [], agent: [] };
  return [early, { ...early, stdout: "" }, { ...early, stdout: "", started: "no" }];
}

/** All that rivals do now and then. */
const chances: readonly Chance[] = [
  {
    by: "first-instant",
    rivals: ["scuttle", "scuttle-redbox", "envoy-preflight"],
    when: "a signal that is sent as soon as the command runs ends it: it has not asked for signals yet",
    sees: (given) => {
      const signal = sentAtOnce(given);
      return signal === undefined ? none : endsEarly(given.isPid1 === true ? 2 : 128 + signal);
    },
  },
  {
    by: "first-instant",
    rivals: ["scuttle-redbox"],
    when: "a signal that is sent as soon as the command runs comes before it knows the command's process: only the sidecar is told",
    sees: (given) => (sentAtOnce(given) === undefined ? none : [{ code: "still running", signals: [] }]),
  },
  {
    by: "first-instant",
    rivals: ["scuttle-redbox"],
    when: "a signal of Go's own (SIGURG, SIGCHLD) comes before it knows the command's process: the sidecar is quit then, and at the end",
    sees: (_, { started, requests }) =>
      started === "no" || requests.length === 0
        ? none
        : [{ requests: requests.flatMap((line) => [line, `${line} again`]) }],
  },
  {
    by: "first-instant",
    rivals: ["scuttle-redbox"],
    when: "one of Go's own where NEVER_KILL_ISTIO_ON_FAILURE is set: it ends",
    sees: ({ env }) => (env?.NEVER_KILL_ISTIO_ON_FAILURE === "true" ? endsEarly(1) : none),
  },
  {
    by: "first-instant",
    rivals: ["envoy-preflight"],
    when: "one of Go's own comes before it knows the command's process: it ends, and the command goes on alone",
    sees: (_, { started }) => (started === "no" ? none : endsEarly(1)),
  },
];

/** Returns the thing that a rival does now and then which explains what was seen; undefined if none does. */
export function chanceOf(given: Case, rival: Rival, seen: Seen, usual: Seen): Chance | undefined {
  return chances.find(
    ({ rivals, sees }) =>
      rivals.includes(rival) && sees(given, usual).some((changed) => Bun.deepEquals(seen, { ...usual, ...changed })),
  );
}

function sentAtOnce({ steps = [] }: Case): number | undefined {
  for (const { once, afterMs, act } of steps) {
    if (once === "started" && afterMs === undefined && act !== "ready") return act.signal;
  }
  return undefined;
}
