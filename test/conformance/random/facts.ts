import type { Outcome } from "../run.ts";
import type { AnswerName } from "./answers.ts";
import type { Plan } from "./plan.ts";

/** A run of both, and what may explain how they differ. */
export interface Facts {
  readonly plan: Plan;
  readonly ours: Outcome;
  readonly theirs: Outcome;
  /** Of times. */
  readonly marginMs: number;
  /** What ebb may take after the command's end. */
  readonly limitMs: number;
  /** Whether a server has one of these answers for its polls, or for the others. */
  readonly has: (what: "polls" | "others", ...names: readonly AnswerName[]) => boolean;
}

export function factsOf(plan: Plan, ours: Outcome, theirs: Outcome, marginMs: number): Facts {
  return {
    plan,
    ours,
    theirs,
    marginMs,
    limitMs: quitTimeoutMs(plan) + marginMs,
    has: (what, ...names) => plan.servers.some((server) => server[what]?.some((name) => names.includes(name)) === true),
  };
}

export function isHung({ seen }: Outcome): boolean {
  return seen.code === "still running";
}

/** Somebody sends a signal before the command can be there. */
export function isSentWhileWaiting({ steps }: Plan): boolean {
  return steps.some(({ act, once }) => act !== "ready" && typeof once === "object" && "ms" in once);
}

/** The signals that are sent to the tool while its command runs. */
export function sentLater({ steps }: Plan): readonly number[] {
  return steps.flatMap(({ act, once }) =>
    act === "ready" || (typeof once === "object" && "ms" in once) ? [] : [act.signal],
  );
}

/** The server that an Istio quit goes to takes it, or not. */
export function answeredQuits({ servers }: Plan): "taken" | "not taken" {
  const [answer] = servers.find(({ port }) => port === 15_020)?.others ?? [];
  return answer === "quits" || answer === "takes" || answer === "quits, late" ? "taken" : "not taken";
}

/** Somebody takes a quit and goes on listening where it was told. */
export function staysOnceTold({ servers }: Plan): boolean {
  return servers.some(
    ({ port, others = [], ends = [] }) =>
      others.some((name) => name.startsWith("takes")) ||
      (others.some((name) => name.startsWith("quits")) && !ends.includes(port)),
  );
}

export function quitTimeoutMs({ env }: Plan): number {
  const given: Readonly<Record<string, number>> = { "3s": 3000, "4000ms": 4000, "6s": 6000 };
  return given[env.QUIT_REQUEST_TIMEOUT ?? ""] ?? 5000;
}
