import { begin, step } from "../../../../../src/pod/run/core/supervision.ts";
import type {
  Action,
  Deadline,
  Event,
  RunPolicy,
  State,
  Step,
} from "../../../../../src/pod/run/core/supervision-steps.ts";

/** Something that the world around a run can do next; it does nothing if it is not possible at that moment. */
export type Move =
  | { readonly kind: "read" }
  | { readonly kind: "signal"; readonly signal: number; readonly isEarly?: boolean }
  | { readonly kind: "join" }
  | { readonly kind: "become-ready" }
  | { readonly kind: "fail-wait" }
  | { readonly kind: "end-child"; readonly code: number }
  | { readonly kind: "end-orphan"; readonly pid: number }
  | { readonly kind: "run-out"; readonly of: Deadline }
  | { readonly kind: "end-drain" }
  | { readonly kind: "end-group" }
  | { readonly kind: "decide"; readonly isLast: boolean }
  | { readonly kind: "answer-quit" };

/** An event that was read, and what was done; the first entry has no event. */
export interface Entry {
  readonly event: Event | undefined;
  readonly before: State | undefined;
  readonly after: State;
  readonly actions: readonly Action[];
  /** Whether there was a child to act on: it has started, and its end is not known yet. */
  readonly hasChild: boolean;
  /** The deadlines that were armed after it. */
  readonly armed: readonly Deadline[];
}

/** A run's driver and all that it acts on: sidecars, child, timers and the queue of events. Moves change it. */
export interface World {
  readonly policy: RunPolicy;
  /**
   * The result of a start: the child's pid, and whether SIGKILL does not end the child; or the exit code of a start
   * that fails.
   */
  readonly start: { readonly pid: number; readonly isStuck: boolean } | { readonly exitCode: number };
  readonly queue: Event[];
  readonly trace: Entry[];
  readonly armed: Set<Deadline>;
  isJoining: boolean;
  isWaiting: boolean;
  /** `stuck`: SIGKILL has not ended it. */
  child: "none" | "alive" | "ended" | "stuck";
  hasChild: boolean;
  drain: "none" | "under way" | "cut" | "over";
  /** The state of what the child leaves in its process group. */
  group: "there" | "told" | "gone";
  /** While the other app containers are asked: why the sidecars are kept, if that is clear. */
  asking: { readonly stay: string | undefined } | undefined;
  isQuitting: boolean;
  /** What the driver did that a driver cannot, or should not, do. */
  readonly wrong: string[];
}

/** Why the sidecars are kept if this container is not the last one. */
const OTHERS_RUN = "--last-of: other runs";

/**
 * Makes the moves, and then whatever is left to do, until the run is over. After 1,000 more it is wrong: "it never
 * ends".
 */
export function simulate(policy: RunPolicy, start: World["start"], moves: readonly Move[]): World {
  const world: World = {
    policy: freeze(policy),
    start,
    queue: [],
    trace: [],
    armed: new Set(),
    isJoining: false,
    isWaiting: false,
    child: "none",
    hasChild: false,
    drain: "none",
    group: "there",
    asking: undefined,
    isQuitting: false,
    wrong: [],
  };
  enter(world, undefined, undefined, begin(world.policy));
  for (const next of moves) move(world, next);
  for (let left = 1000; !isOver(world) && left > 0; left -= 1) move(world, lastMove(world));
  if (!isOver(world)) world.wrong.push("it never ends");
  return world;
}

/** Reports whether a run is over. */
export function isOver({ trace }: World): boolean {
  return trace.at(-1)?.after.phase === "over";
}

function enter(world: World, before: State | undefined, event: Event | undefined, [after, actions]: Step): void {
  if (event?.kind === "started") world.hasChild = true;
  if (event?.kind === "reaped" && "pid" in world.start && event.pid === world.start.pid) world.hasChild = false;
  for (const action of actions) perform(world, action);
  const { hasChild, armed } = world;
  world.trace.push(freeze({ before, event, after, actions, hasChild, armed: [...armed] }));
}

/** Performs an action on the world, as src/pod/run/perform.ts does. */
function perform(world: World, action: Action): void {
  const must = (holds: boolean) => holds || world.wrong.push(`${action.kind} out of place`);
  switch (action.kind) {
    case "join":
      must(world.policy.hasPeers && !world.isJoining && world.child === "none");
      world.isJoining = true;
      return;
    case "decide":
      must(world.policy.hasPeers && world.asking === undefined && !isHeld(world));
      world.asking = { stay: action.stay };
      return;
    case "wait":
      must(!world.isWaiting && world.child === "none");
      world.isWaiting = true;
      return;
    case "stop-waiting":
      world.isWaiting = false;
      return;
    case "start":
      must(world.child === "none" && !world.isWaiting);
      return start(world);
    case "drain":
      must(world.hasChild && world.drain === "none" && world.policy.drains);
      world.drain = "under way";
      return;
    case "cut-drain":
      must(world.drain === "under way" || world.drain === "over");
      if (world.drain === "under way") world.drain = "cut";
      return;
    case "forward":
      must(world.hasChild || world.group !== "there");
      return;
    case "drop":
      return;
    case "end-group":
      must(world.child === "ended" && world.policy.endsGroup && world.group === "there");
      world.group = action.watch ? "told" : "gone";
      return;
    case "warn-of-left":
      must(world.child === "ended" && !world.isQuitting);
      return;
    case "kill-all":
      must(world.hasChild || world.group !== "there");
      world.group = "gone";
      if (!("isStuck" in world.start) || !world.start.isStuck) return endChild(world, { signal: 9 });
      if (world.child === "alive") world.child = "stuck";
      return;
    case "leave-child":
      must(world.hasChild && world.child !== "alive"); // it may have ended by now, but that is not read yet
      world.hasChild = false;
      return;
    case "arm":
      must(!world.armed.has(action.deadline));
      world.armed.add(action.deadline);
      return;
    case "disarm":
      world.armed.delete(action.deadline);
      return;
    case "quit":
      must(!world.isQuitting && !isHeld(world));
      world.isQuitting = true;
      return;
    case "exit":
      must(!world.isQuitting && !isHeld(world) && world.armed.size === 0);
  }
}

/** Whether there is a child that the run may not leave. */
function isHeld({ child, hasChild }: World): boolean {
  return child === "alive" || (child === "stuck" && hasChild);
}

function start(world: World): void {
  if ("pid" in world.start) world.child = "alive";
  world.queue.push(
    "pid" in world.start ? { kind: "started", pid: world.start.pid } : { kind: "start-failed", ...world.start },
  );
}

function endChild(world: World, exit: Extract<Event, { kind: "reaped" }>["exit"]): void {
  if (!["alive", "stuck"].includes(world.child) || !("pid" in world.start)) return;
  world.child = "ended";
  world.queue.push({ kind: "reaped", pid: world.start.pid, exit });
}

function move(world: World, next: Move): void {
  const { queue, trace, policy } = world;
  switch (next.kind) {
    case "read": {
      const event = queue.shift();
      if (event === undefined || isOver(world)) return;
      const before = (trace.at(-1) as Entry).after;
      return enter(world, before, freeze(event), step(before, event, policy));
    }
    case "signal":
      return void queue.push(next);
    case "end-orphan":
      return void queue.push({ kind: "reaped", pid: next.pid, exit: { code: 0 } });
    case "end-child":
      return endChild(world, { code: next.code });
    case "run-out":
      if (world.armed.delete(next.of)) queue.push({ kind: "deadline", of: next.of });
      return;
    case "end-drain":
      if (world.drain === "under way" || world.drain === "cut") {
        world.drain = "over";
        queue.push({ kind: "drained" });
      }
      return;
    case "end-group":
      if (world.group === "told") queue.push({ kind: "group-gone" });
      if (world.group === "told") world.group = "gone";
      return;
    case "answer-quit":
      if (world.isQuitting) queue.push({ kind: "quit-done" });
      world.isQuitting = false;
      return;
    case "join":
      if (world.isJoining) queue.push({ kind: "joined" });
      world.isJoining = false;
      return;
    case "decide": {
      if (world.asking === undefined) return;
      const { stay } = world.asking;
      queue.push({ kind: "decided", stay: stay ?? (next.isLast ? undefined : OTHERS_RUN) });
      world.asking = undefined;
      return;
    }
    case "become-ready":
    case "fail-wait":
      if (world.isWaiting)
        queue.push(next.kind === "become-ready" ? { kind: "ready" } : { kind: "wait-failed", exitCode: 70 });
      world.isWaiting = false;
  }
}

/** Returns a move that brings a run nearer to its end. */
function lastMove({ queue, isJoining, isWaiting, child, armed, drain, group, asking, isQuitting }: World): Move {
  if (queue.length > 0) return { kind: "read" };
  if (isJoining) return { kind: "join" };
  if (asking !== undefined) return { kind: "decide", isLast: true };
  if (drain === "under way" || drain === "cut") return { kind: "end-drain" };
  if (isWaiting) return { kind: "become-ready" };
  if (child === "alive") return { kind: "end-child", code: 0 };
  if (armed.has("kill")) return { kind: "run-out", of: "kill" };
  if (group === "told") return { kind: "end-group" };
  return isQuitting ? { kind: "answer-quit" } : { kind: "read" };
}

function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) freeze(part);
  return Object.freeze(value);
}
