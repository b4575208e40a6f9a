import { expect, test } from "bun:test";
import {
  type Answer,
  type AttemptPolicy,
  afterAnswer,
  afterFailedRead,
  type EndRequest,
  firstAttempt,
  type Next,
  nextStep,
  type Observation,
} from "../../../../../../src/cluster/reaper/core/attempt.ts";
import type { Ending, Method } from "../../../../../../src/cluster/reaper/core/methods.ts";
import type { Rule } from "../../../../../../src/cluster/reaper/core/pod-rules.ts";

export const usual: AttemptPolicy = { rounds: 2, pause: { firstMs: 1000, longestMs: 60_000 } };

/** Returns the method of executing /stop in a container. */
const exec = (container: string): Method => ({ kind: "exec", container, command: ["/stop"] });

/** Returns the method of `POST /quit` to port 1 of a container, through a port-forward. */
export const forward = (container: string): Method => ({
  kind: "port-forward",
  container,
  requests: [{ port: 1, method: "POST", path: "/quit", headers: [] }],
});

/** Returns how a container is ended: by these methods, with a patience of 7 s. */
export const ending = (
  container: string,
  methods: readonly Method[] = [exec(container), forward(container)],
): Ending => ({ container, methods, patienceMs: 7000 });

/** Returns the observation that the pod is stuck, and that these containers are to be ended. */
export const stuck = (...containers: readonly Ending[]): Observation => ({
  kind: "end",
  rule: "stuck",
  reason: "stuck",
  containers,
});

/** Returns the observation that the pod is to be left alone. */
export const left = (rule: Rule, reason: string = rule): Observation => ({ kind: "leave", rule, reason });

export const proxy = stuck(ending("proxy"));
export const ended = left("sidecars-ended");
export const gone: Observation = { kind: "gone" };

export const taken: Answer = { kind: "taken" };
export const refused: Answer = { kind: "refused", why: "404" };
export const unanswered: Answer = { kind: "unanswered", why: "no answer within 10s" };

/** The pod was read, or cannot be read; the request was answered; time passes. */
type Step =
  | { readonly seen: Observation }
  | { readonly answered: Answer }
  | { readonly passed: number }
  | { readonly unreadable: true; readonly afterMs?: number };

export const seen = (observation: Observation): Step => ({ seen: observation });
export const answered = (answer: Answer): Step => ({ answered: answer });
export const passed = (ms: number): Step => ({ passed: ms });
export const unreadable: Step = { unreadable: true };

/** A title, the steps, and what follows from each but the passing of time, as `tell` writes it. */
type Life = readonly [title: string, steps: readonly Step[], told: readonly string[], chance?: number];

/** Writes what follows: `exec in proxy`, `wait 7000` (from now), `ended`, `gave-up: ...`. */
function tell(next: Next, now: number): string {
  switch (next.kind) {
    case "ask":
      return `${next.request.method.kind} in ${next.request.container}`;
    case "wait":
      return `wait ${next.untilMs - now}`;
    case "over":
      return "reason" in next.outcome ? `${next.outcome.kind}: ${next.outcome.reason}` : next.outcome.kind;
  }
}

/** Runs an attempt through these steps. Returns what follows from each, and the last of it. */
export function live(steps: readonly Step[], policy: AttemptPolicy = usual, chance = 1) {
  let attempt = firstAttempt;
  let request: EndRequest | undefined;
  let now = 1000;
  let next: Next | undefined;
  const told: string[] = [];
  for (const step of steps) {
    const clock = { ...policy, now, chance };
    if ("passed" in step) {
      now += step.passed;
      continue;
    }
    if ("seen" in step) next = nextStep(attempt, step.seen, clock);
    else if ("answered" in step) next = afterAnswer(attempt, request as EndRequest, step.answered, clock);
    else next = afterFailedRead(attempt, clock, { why: "503", afterMs: step.afterMs });
    told.push(tell(next, now));
    if (next.kind === "ask") request = next.request;
    if (next.kind !== "over") attempt = next.attempt;
  }
  return { told, next };
}

/** Declares a test for each life. */
export function testLives(lives: readonly Life[]): void {
  test.each(lives.map(([title, steps, told, chance = 1]) => [title, steps, told, chance] as const))(
    "%s",
    (_, steps, told, chance) => expect(live(steps, usual, chance).told).toEqual([...told]),
  );
}
