import type { Case, Rival, Seen } from "./case.ts";
import type { DifferenceId } from "./differences.ts";

/** What a rival does now and then, in a case that is like this: what is seen of it then, exactly. */
interface Chance {
  readonly by: DifferenceId;
  readonly rivals: readonly Rival[];
  readonly when: string;
  /** Undefined: not in this case. */
  readonly sees: (given: Case, usual: Seen) => Partial<Seen> | undefined;
}

const quitless = { requests: [], signals: [], agent: [] } as const;

export const chances: readonly Chance[] = [
  {
    by: "first-instant",
    rivals: ["scuttle", "scuttle-redbox", "envoy-preflight"],
    when: "a signal that is sent as soon as the command runs ends it: it has not asked for signals yet",
    sees: (given) => {
      const signal = sentAtOnce(given);
      return signal === undefined ? undefined : { ...quitless, code: given.isPid1 === true ? 2 : 128 + signal };
    },
  },
  {
    by: "first-instant",
    rivals: ["scuttle-redbox"],
    when: "a signal of Go's own (SIGURG, SIGCHLD) comes before it knows the command's process: the sidecar is quit then, and at the end",
    sees: (_, usual) =>
      usual.started === "no" || usual.requests.length === 0
        ? undefined
        : { requests: usual.requests.flatMap((line) => [line, `${line} again`]) },
  },
  {
    by: "first-instant",
    rivals: ["scuttle-redbox"],
    when: "a signal that is sent as soon as the command runs comes before it knows the command's process: only the sidecar is told",
    sees: (given) => (sentAtOnce(given) === undefined ? undefined : { code: "still running", signals: [] }),
  },
  {
    by: "first-instant",
    rivals: ["scuttle-redbox"],
    when: "one of Go's own where NEVER_KILL_ISTIO_ON_FAILURE is set: it ends",
    sees: ({ env }) => (env?.NEVER_KILL_ISTIO_ON_FAILURE === "true" ? { ...quitless, code: 1 } : undefined),
  },
  {
    by: "first-instant",
    rivals: ["envoy-preflight"],
    when: "one of Go's own comes before it knows the command's process: it ends, and the command goes on alone",
    sees: (_, usual) => (usual.started === "no" ? undefined : { ...quitless, code: 1 }),
  },
];

/** Whether what was seen of a rival is not what it usually does, but one of the things that it does now and then. */
export function chanceOf(given: Case, rival: Rival, seen: Seen, usual: Seen): Chance | undefined {
  return chances.find(({ rivals, sees }) => {
    const changed = rivals.includes(rival) ? sees(given, usual) : undefined;
    return changed !== undefined && Bun.deepEquals(seen, { ...usual, ...changed });
  });
}

function sentAtOnce({ steps = [] }: Case): number | undefined {
  for (const { once, afterMs, act } of steps) {
    if (once === "started" && afterMs === undefined && act !== "ready") return act.signal;
  }
  return undefined;
}
