import { formatDuration } from "../base/duration.ts";
import { backoffMs } from "../cluster/backoff.ts";
import type {
  Act,
  Action,
  AttemptPolicy,
  Event,
  Observation,
  Outcome,
  Progress,
  Result,
  State,
  Step,
  Tried,
} from "./attempt-steps.ts";
import type { Ending } from "./methods.ts";
import type { Rule } from "./pod-rules.ts";

/**
 * Begins an attempt to end the sidecars of a pod. Returns its first state, and what is to be done in it: look at the
 * pod.
 */
export function beginAttempt(policy: AttemptPolicy): Step {
  return look({ turn: 0, round: 1, failures: 0, misses: 0, tried: [], acts: [], unanswered: undefined }, policy);
}

/**
 * Returns the attempt's next state after an event, and what is to be done in it. An event that does not belong to the
 * phase, or that answers an older look or act (`turn`), changes nothing.
 */
export function stepAttempt(state: State, event: Event, policy: AttemptPolicy): Step {
  if (state.phase === "over") return [state, []];
  if (event.kind === "stop") return over({ kind: "stopped" }, leave(state));
  if (event.kind === "changed") return changed(state, event.observation, policy);
  if (event.kind !== "deadline" && event.turn !== state.turn) return [state, []];
  switch (state.phase) {
    case "looking":
      return looking(state, event, policy);
    case "acting":
      return acting(state, event, policy);
    case "watching":
      if (event.kind !== "deadline" || event.of !== "patience") return [state, []];
      return look(
        spend(state, state.acted, `taken, and still there ${formatDuration(state.acted.patienceMs)} later`),
        policy,
      );
    case "resting":
      return event.kind === "deadline" && event.of === "rest" ? look(state, policy) : [state, []];
  }
}

type In<P extends State["phase"]> = Extract<State, { phase: P }>;
type Live = Exclude<State, { phase: "over" }>;

function look(progress: Progress, { answerMs }: AttemptPolicy, before: readonly Action[] = []): Step {
  const turn = progress.turn + 1;
  const answer: Action = { kind: "arm", deadline: "answer", ms: answerMs };
  return [{ ...only(progress), phase: "looking", turn }, [...before, { kind: "look", turn }, answer]];
}

function only({ turn, round, failures, misses, tried, acts, unanswered }: Progress): Progress {
  return { turn, round, failures, misses, tried, acts, unanswered };
}

function looking(state: Live, event: Event, policy: AttemptPolicy): Step {
  switch (event.kind) {
    case "looked":
      return judge(state, event.observation, policy);
    case "forbidden":
      return over({ kind: "put-off", reason: event.reason }, [{ kind: "disarm", deadline: "answer" }]);
    case "look-failed":
      return rest({ ...state, failures: state.failures + 1 }, policy, [{ kind: "disarm", deadline: "answer" }]);
    case "deadline":
      if (event.of !== "answer") return [state, []];
      return rest({ ...state, failures: state.failures + 1 }, policy, [{ kind: "abort" }]);
    default:
      return [state, []];
  }
}

function acting(state: In<"acting">, event: Event, policy: AttemptPolicy): Step {
  const answered: readonly Action[] = [{ kind: "disarm", deadline: "answer" }];
  if (event.kind === "deadline" && event.of === "answer") {
    const why = `no answer within ${formatDuration(policy.answerMs)}`;
    const next = { ...spend(state, state.acted, why), unanswered: state.acted };
    return look(next, policy, [{ kind: "abort" }]);
  }
  if (event.kind !== "acted") return [state, []];
  const { result } = event;
  switch (result.kind) {
    case "taken": {
      const acts = [...state.acts, state.acted];
      const patience: Action = { kind: "arm", deadline: "patience", ms: state.acted.patienceMs };
      return [
        { ...state, phase: "watching", failures: 0, misses: 0, acts, unanswered: undefined },
        [...answered, patience],
      ];
    }
    case "refused":
      return look(
        { ...spend(state, state.acted, result.why, result.isDenied), failures: 0, misses: 0 },
        policy,
        answered,
      );
    case "unavailable":
      return missed(state, result, { policy, before: answered });
  }
}

/** So many acts in a row without an answer put the pod off: about a minute of rests. */
const MOST_MISSES = 7;

function missed(
  state: In<"acting">,
  { why, afterMs }: Extract<Result, { kind: "unavailable" }>,
  { policy, before }: Around,
): Step {
  const misses = state.misses + 1;
  if (misses === MOST_MISSES) return over({ kind: "put-off", reason: why }, before);
  return rest({ ...state, failures: state.failures + 1, misses, unanswered: state.acted }, policy, before, afterMs);
}

function spend(progress: Progress, act: Act, why: string, isDenied?: true): Progress {
  const tried: Tried = { ...act, round: progress.round, why, ...(isDenied && { isDenied }) };
  return { ...progress, tried: [...progress.tried, tried] };
}

/** Takes a change that the watch reports. It may stop what goes on, but never starts an act. */
function changed(state: Live, observation: Observation, policy: AttemptPolicy): Step {
  if (state.phase === "looking" || observation.kind === "later") return [state, []];
  if (observation.kind === "end") {
    const isLeft =
      state.phase !== "watching" || observation.containers.some(({ container }) => container === state.acted.container);
    return isLeft ? [state, []] : look(state, policy, leave(state));
  }
  if (observation.kind === "leave" && observation.rule === "being-ended") return [state, []];
  // the sidecar's end cut the act short
  const acts = state.phase === "acting" ? [...state.acts, state.acted] : state.acts;
  return judge({ ...state, acts }, observation, policy);
}

/** The rules that a pod meets once its sidecars have ended, whoever has ended them. */
const endedRules: ReadonlySet<Rule> = new Set(["sidecars-ended", "over"]);
/**
 * The rules that a pod would meet again after the next act: the kubelet starts the sidecar again, or nothing is left
 * that could end it.
 */
const lastingRules: ReadonlySet<Rule> = new Set(["sidecar-restarts", "sidecar-waiting", "no-method"]);

/** Milliseconds after which the pod is looked at again while somebody else's act is at work. */
const SOMEBODY_ELSE_MS = 5000;

function judge(state: Live, observation: Observation, policy: AttemptPolicy): Step {
  const before = leave(state).filter(({ kind }) => kind === "disarm" || state.phase === "acting");
  if (observation.kind === "gone") return over({ kind: "gone" }, before);
  if (observation.kind === "end") return next(state, observation.containers, { policy, before });
  if (observation.rule === "being-ended") return rest(state, policy, before, SOMEBODY_ELSE_MS);
  const { tried, unanswered } = state;
  const acts = state.acts.length > 0 || unanswered === undefined ? state.acts : [unanswered];
  if (acts.length > 0 && endedRules.has(observation.rule)) return over({ kind: "ended", acts }, before);
  const { reason } = observation;
  if (acts.length > 0 && lastingRules.has(observation.rule)) return over({ kind: "gave-up", reason, tried }, before);
  return over({ kind: "left", reason }, before);
}

interface Around {
  readonly policy: AttemptPolicy;
  readonly before: readonly Action[];
}

/**
 * Tries the first method that this round has not tried yet; if there is none, begins another round; after the last
 * round, gives up. If every method failed for missing permissions, the pod is put off instead.
 */
function next(state: Progress, endings: readonly Ending[], { policy, before }: Around): Step {
  const { tried, round } = state;
  const [ending] = endings;
  if (ending === undefined) return over({ kind: "left", reason: "nothing of it is to be ended" }, before);
  const { container, patienceMs } = ending;
  const spent = new Set(tried.filter((each) => each.round === round && each.container === container).map(keyOf));
  const method = ending.methods.find((each) => !spent.has(JSON.stringify(each)));
  if (method !== undefined) {
    const act: Act = { container, method, patienceMs };
    const turn = state.turn + 1;
    const answer: Action = { kind: "arm", deadline: "answer", ms: policy.answerMs };
    return [{ ...only(state), phase: "acting", turn, acted: act }, [...before, { kind: "act", turn, act }, answer]];
  }
  if (round < policy.rounds) return rest({ ...state, round: round + 1 }, policy, before);
  const denied = tried.at(-1)?.why;
  if (denied !== undefined && tried.every(({ isDenied }) => isDenied))
    return over({ kind: "put-off", reason: denied }, before);
  return over(
    { kind: "gave-up", reason: `${container} still runs after all methods; if its app is done, delete the pod`, tried },
    before,
  );
}

/** Identifies a method. Its description would not do: it leaves out secrets, so two methods may share it. */
function keyOf({ method }: Act): string {
  return JSON.stringify(method);
}

function rest(progress: Progress, { rest, chance }: AttemptPolicy, before: readonly Action[], atLeastMs = 0): Step {
  // rests between rounds are longer: whoever must mend something needs time
  const times = progress.failures + 3 * (progress.round - 1);
  const ms = Math.max(atLeastMs, backoffMs(times, rest, chance));
  return [{ ...only(progress), phase: "resting" }, [...before, { kind: "arm", deadline: "rest", ms }]];
}

function over(outcome: Outcome, before: readonly Action[]): Step {
  return [{ phase: "over", outcome }, [...before, { kind: "end", outcome }]];
}

/** Returns the actions that end a phase: its deadline is disarmed, its act aborted. */
function leave({ phase }: Live): readonly Action[] {
  if (phase === "watching") return [{ kind: "disarm", deadline: "patience" }];
  if (phase === "resting") return [{ kind: "disarm", deadline: "rest" }];
  return [{ kind: "disarm", deadline: "answer" }, { kind: "abort" }];
}
