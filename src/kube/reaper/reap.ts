import { beginAttempt, stepAttempt } from "../../core/reap/attempt.ts";
import type {
  Act,
  Action,
  AttemptPolicy,
  Deadline,
  Event,
  Observation,
  Outcome,
  Result,
  State,
  Step,
} from "../../core/reap/attempt-steps.ts";
import { observationOf } from "../../core/reap/observation.ts";
import type { ReaperMemory } from "../../core/reap/pod-rules.ts";
import type { ReapPolicy } from "../../core/reap/policy.ts";
import { createDeadlines, type Deadlines, runMachine } from "../../system/machine.ts";
import type { Log } from "../../system/output/log.ts";
import { createQueue, type Queue } from "../../system/queue.ts";
import { deadline } from "../../system/timer.ts";
import type { ApiClient, KubeObject } from "../api/client.ts";
import type { Perform } from "./act/act.ts";
import type { PodRef } from "./act/acting.ts";
import { type FollowPod, followByPolling, readPod } from "./look.ts";

/** What an attempt at one pod needs. */
export interface Reaping {
  readonly api: ApiClient;
  readonly perform: Perform;
  readonly policy: () => ReapPolicy;
  readonly known: () => ReaperMemory;
  /** Reports the pod's changes; undefined: the pod is read every 2 s. */
  readonly follow?: FollowPod | undefined;
  /**
   * Called before each act, which waits for it, but not longer than `beforeMs`. If it rejects, the log says so, and the
   * act follows.
   */
  readonly before?: ((act: Act, reason: string) => Promise<void>) | undefined;
  /** Called with the result of each act, also of one that was given up. */
  readonly after?: ((act: Act, result: Result, tookMs: number) => void) | undefined;
  /** Called after a 403, to check the account's permissions. */
  readonly denied?: ((signal: AbortSignal) => Promise<unknown>) | undefined;
  /** Times and rounds that differ from the usual ones. */
  readonly pace?: Partial<Pace> | undefined;
  readonly log: Log;
  /** Once it is aborted nothing is begun, what is under way is given up, and the outcome is `stopped`. */
  readonly signal: AbortSignal;
}

/** The times and rounds of an attempt. */
export interface Pace extends Omit<AttemptPolicy, "chance"> {
  /** The longest that an act waits for `before`. */
  readonly beforeMs: number;
}

const usual: Pace = { beforeMs: 5000, rounds: 3, answerMs: 30_000, rest: { firstMs: 1000, longestMs: 60_000 } };

/**
 * Makes one attempt to end a pod's sidecars, from the first look to the outcome, as core/reap/attempt.ts decides.
 * Resolves with the outcome once nothing of it is under way. Failures of the API are part of the outcome: it rejects
 * only on a bug.
 */
export async function reap(pod: PodRef, reaping: Reaping): Promise<Outcome> {
  const events = createQueue<Event>();
  const work = createWork(events);
  const observation = (seen: unknown): Observation =>
    observationOf(seen, { uid: pod.uid, policy: reaping.policy(), known: reaping.known() });
  const perform = createPerform({ pod, reaping, observation }, work);
  const follow = reaping.follow ?? followByPolling(pod, reaping.api);
  const unfollow = follow(pod.uid, (seen: KubeObject | undefined) =>
    events.push({ kind: "changed", observation: observation(seen) }),
  );
  const policyNow = (): AttemptPolicy => ({ ...paceOf(reaping), chance: Math.random() });
  const onAbort = () => events.push({ kind: "stop" });
  reaping.signal.addEventListener("abort", onAbort, { once: true });
  try {
    const stepNow = (state: State, event: Event) => stepAttempt(state, event, policyNow());
    const [first, actions] = beginAttempt(policyNow());
    const beginNow = (): Step => (reaping.signal.aborted ? stepNow(first, { kind: "stop" }) : [first, actions]);
    const { outcome } = await runMachine<State, Event, Action>({ begin: beginNow, step: stepNow, perform }, events);
    return outcome;
  } finally {
    reaping.signal.removeEventListener("abort", onAbort);
    unfollow();
    await work[Symbol.asyncDispose]();
  }
}

function paceOf({ pace }: Reaping): Pace {
  return { ...usual, ...pace };
}

/** The look or act that is under way beside the loop, and timers. */
interface Work extends AsyncDisposable {
  /** Starts a look or act. The event that it resolves with is queued, unless it was aborted. */
  start(work: (signal: AbortSignal) => Promise<Event>): void;
  abort(): void;
  readonly deadlines: Deadlines<Deadline>;
}

function createWork(events: Queue<Event>): Work {
  const deadlines = createDeadlines<Deadline>((of) => events.push({ kind: "deadline", of }));
  let underWay = new AbortController();
  let settled: Promise<unknown> | undefined;
  return {
    start(work) {
      underWay = new AbortController();
      const { signal } = underWay;
      settled = work(signal).then(
        (event) => signal.aborted || events.push(event),
        (error: unknown) => signal.aborted || events.fail(error),
      );
    },
    abort: () => underWay.abort(),
    deadlines,
    async [Symbol.asyncDispose]() {
      underWay.abort();
      deadlines.disarmAll();
      await settled;
    },
  };
}

interface Around {
  readonly pod: PodRef;
  readonly reaping: Reaping;
  readonly observation: (pod: unknown) => Observation;
}

function createPerform({ pod, reaping, observation }: Around, work: Work): (action: Action) => void {
  let reason = "";
  const look = async (turn: number, signal: AbortSignal): Promise<Event> => {
    const found = await readPod(pod, reaping.api, signal);
    if (found.kind === "forbidden") {
      await reaping.denied?.(signal);
      return { ...found, turn };
    }
    if (found.kind === "failed") return { kind: "look-failed", turn, why: found.why };
    const seen = observation(found.pod);
    if (seen.kind === "end") reason = seen.reason;
    return { kind: "looked", turn, observation: seen };
  };
  const act = async (turn: number, act: Act, signal: AbortSignal): Promise<Event> => {
    if (reaping.before)
      await soon(reaping.before(act, reason), { ms: paceOf(reaping).beforeMs, log: reaping.log, signal });
    signal.throwIfAborted();
    const objection = (fresh: unknown) => objectionTo(act, observation(fresh));
    const startedAt = performance.now();
    const after = (result: Result) => reaping.after?.(act, result, performance.now() - startedAt);
    try {
      const result = await reaping.perform(act, { pod, objection, signal });
      after(result);
      return { kind: "acted", turn, result };
    } catch (error) {
      if (signal.aborted) after({ kind: "unavailable", why: "not waited for to its end" });
      throw error;
    }
  };
  return (action) => {
    switch (action.kind) {
      case "look":
        return work.start((signal) => look(action.turn, signal));
      case "act":
        return work.start((signal) => act(action.turn, action.act, signal));
      case "abort":
        return work.abort();
      case "arm":
        return work.deadlines.arm(action.deadline, action.ms);
      case "disarm":
        return work.deadlines.disarm(action.deadline);
      case "end":
        return;
    }
  };
}

/** Returns why an act is no longer right that was decided a moment ago; undefined if it is. */
function objectionTo({ container }: Act, observation: Observation): string | undefined {
  if (observation.kind === "gone") return "the pod is gone, or another one has its name";
  if (observation.kind !== "end") return `not any more: ${observation.reason}`;
  const isNext = observation.containers[0]?.container === container;
  return isNext ? undefined : `not any more: ${container} is not what is to be ended next`;
}

interface Patience {
  readonly ms: number;
  readonly log: Log;
  readonly signal: AbortSignal;
}

/** Waits for `work`, at most `ms`. Whether it is done, late or failed, the act follows. */
async function soon(work: Promise<void>, { ms, log, signal }: Patience): Promise<void> {
  const failed = work.catch((error: Error) =>
    log.warn({ reason: error.message }, "cannot write the Event before the act"),
  );
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = deadline(ms, resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await Promise.race([failed, promise]);
  cancel();
}
