import type { Command, Invocation } from "../command.ts";
import { argvIndexOf, type Call, readCommandCall } from "../core/cli/call.ts";
import { finding, logging, pickOptions } from "../core/cli/options.ts";
import { type ChildExit, EXIT, Failure } from "../core/run/exit.ts";
import { over, plainCodeOf, stepPlainly } from "../core/run/plain-step.ts";
import { planShutdown, type ShutdownPlan } from "../core/run/shutdown-budget.ts";
import { SIG, type SignalNumber, signalName, suspends } from "../core/run/signal.ts";
import { summarize } from "../core/run/summary.ts";
import { begin, step } from "../core/run/supervision.ts";
import type { Action, Deadline, Event, RunPolicy, State, Step } from "../core/run/supervision-steps.ts";
import type { QuitRequest, Sidecar } from "../core/sidecars/sidecar.ts";
import { createLog, type Log } from "../system/output/log.ts";
import { writeTerminationLog } from "../system/output/termination-log.ts";
import { type Change, type Child, type CommandLine, reap, spawn } from "../system/process/child.ts";
import { resumeChild, stopWith, takeTerminalBack } from "../system/process/job-control.ts";
import { countWakeUp, giveMemoryBack } from "../system/process/memory.ts";
import { native } from "../system/process/native.ts";
import { createDropper, type Signals } from "../system/process/signals.ts";
import { logBug, orSaid, surviveErrors } from "../system/process/unexpected.ts";
import { createQueue, type Queue } from "../system/queue.ts";
import { drainSidecars, takeDrainBack, takeHiddenDrainsBack } from "../system/run/drain.ts";
import { quitPlainly, quitSidecars } from "../system/run/quit.ts";
import { endGroup, killAll, send, watchGroup } from "../system/run/remains.ts";
import { waitedFor } from "../system/run/sidecars.ts";
import { rehearseQuit } from "../system/sidecars/quit-rehearsal.ts";
import { startWait, type Wait } from "../system/sidecars/waiting.ts";
import { deadline, keepAlive } from "../system/timer.ts";

const pick = () =>
  pickOptions(
    ...finding,
    ...logging,
    "header",
    "waitTimeout",
    "onWaitTimeout",
    "noWait",
    "quitOn",
    "restartPolicy",
    "quitTimeout",
    "drain",
    "minDrain",
    "idle",
    "grace",
    "podGrace",
    "detect",
    "stopSignal",
    "signal",
    "group",
    "parentDeath",
    "expectExit",
    "terminationLog",
  );

/** `ebb run`: wait -> start -> forward, reap -> drain -> quit -> exit code. Each decision is core/run/supervision.ts's. */
export const command: Command = {
  summary: "wait for the sidecars, run a command, quit them (the default)",
  usage: "[run] [flags] -- CMD ARG...",
  get options() {
    return pick();
  },
  main,
};

type RunSettings = Call<ReturnType<typeof pick>>["values"];

/** What the actions of one run share. */
interface Run {
  readonly env: Invocation["env"];
  readonly settings: RunSettings;
  readonly command: CommandLine;
  readonly log: Log;
  readonly queue: Queue<Event>;
  readonly leaving: ShutdownPlan;
  readonly stopWaiting: AbortController;
  readonly cutDrain: AbortController;
  readonly deadlines: Map<Deadline, () => void>;
  readonly since: { readonly wait: number; run?: number; drain?: number; drained?: number; quit?: number };
  wait?: Wait;
  /** Never rejects. Resolves when the drain, if there is one, has said what came of it. */
  draining?: Promise<unknown>;
  isReady: boolean;
  child?: Child;
  exit?: ChildExit;
  /** Never rejects. Resolves when all that is left of the command has been killed. */
  killing?: Promise<unknown>;
  /** Where a quit was sent. */
  readonly asked: Set<QuitRequest["target"]>;
  readonly drop: (signal: SignalNumber) => void;
}

async function main(invocation: Invocation): Promise<number> {
  const run = prepare(invocation);
  const policy = policyOf(run);
  const letGo = keepAlive();
  listenForEvents(run, invocation.signals);
  let [state, actions] = begin(policy);
  for (;;) {
    for (const action of actions) attempt(run, action);
    if (state.phase === "over") break;
    [state, actions] = next(run, state, await run.queue.next(), policy);
  }
  await run.draining;
  await run.killing;
  attemptTo("say how long it took", run, () => finish(run, state.exitCode));
  letGo();
  return state.exitCode;
}

/** Once there is a command, an error that nobody expects leaves what is plain of a step; where that fails too, the end and its code. */
function next(run: Run, state: State, event: Event, policy: RunPolicy): Step {
  if (run.child === undefined) return step(state, event, policy);
  let after: Step = run.exit === undefined ? [state, []] : over(plainCodeOf(run.exit, policy));
  const take = (how: typeof step) => () => {
    after = how(state, event, policy);
  };
  const what = `take in "${event.kind}"`;
  if (!attemptTo(what, run, take(step))) attemptTo(`${what} plainly`, run, take(stepPlainly));
  return after;
}

function prepare({ args, argvIndex, env, said }: Invocation): Run {
  const call = readCommandCall(pick(), { args, env, said });
  if (call.command.length === 0) throw new Failure(EXIT.usage, `run: expected a command; usage: ebb ${command.usage}`);
  const { drain, grace, podGrace, parentDeath } = call.values;
  const log = createLog(call.values, { env, said });
  if (parentDeath !== undefined) native.parentDeath(parentDeath);
  return {
    env,
    settings: call.values,
    leaving: planShutdown({ drainMs: drain, graceMs: grace, podGraceMs: podGrace }),
    command: { words: call.command, argvIndex: argvIndexOf(argvIndex, call) },
    log,
    drop: createDropper(log),
    queue: createQueue(),
    stopWaiting: new AbortController(),
    cutDrain: new AbortController(),
    deadlines: new Map(),
    since: { wait: performance.now() },
    isReady: false,
    asked: new Set(),
  };
}

function policyOf({ settings, leaving }: Run): RunPolicy {
  return {
    quitOn: settings.quitOn,
    restartPolicy: settings.restartPolicy,
    waitMs: settings.noWait ? undefined : settings.waitTimeout,
    onWaitTimeout: settings.onWaitTimeout,
    waitFailureCode: EXIT.unavailable,
    stopSignals: settings.stopSignal,
    endsGroup: settings.group,
    drains: leaving.drainMs > 0,
    graceMs: leaving.graceMs,
    rewrite: new Map(settings.signal),
    expectedCodes: settings.expectExit,
  };
}

function listenForEvents(run: Run, signals: Signals): void {
  signals.subscribe((signal, { wasIgnored, isEarly }) => {
    if (signal === SIG.CONT && run.child !== undefined) run.child.isToStop = false; // also where its stop is still to be read
    run.queue.push({ kind: "signal", signal, wasIgnored, isEarly });
    run.log.debug({ signal: signalName(signal) }, "signal");
  });
  signals.onChildChange(() => {
    countWakeUp();
    reap((pid, change) => {
      if (pid === run.child?.pid) onChildChange(run, run.child, change);
    });
  });
}

function onChildChange(run: Run, child: Child, change: Change): void {
  if ("stop" in change) return stopWith(child, change.stop);
  run.exit = change.exit;
  run.queue.push({ kind: "reaped", pid: child.pid, exit: change.exit });
  takeTerminalBack(child); // before the loop hears of it
}

/** Once there is a command, an error that nobody expects costs neither its exit code nor what is still to be done. */
function attempt(run: Run, action: Action): void {
  if (run.child === undefined && action.kind !== "quit") return perform(run, action);
  if (attemptTo(action.kind, run, () => perform(run, action))) return;
  if (action.kind === "drain") run.queue.push({ kind: "drained" });
  if (action.kind === "quit") quitRest(run);
  if (action.kind === "forward" && run.child !== undefined) native.kill(receiverOf(run, run.child), action.signal);
}

/** Whether it went well. */
function attemptTo(what: string, run: Run, act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    logBug(run.log, error, `it could not ${what}`);
    return false;
  }
}

function perform(run: Run, action: Action): void {
  switch (action.kind) {
    case "wait":
      return wait(run);
    case "stop-waiting":
      return run.stopWaiting.abort();
    case "give-up-waiting":
      return giveUpWaiting(run, action.start);
    case "start":
      return start(run);
    case "drain":
      return drain(run);
    case "cut-drain":
      return run.cutDrain.abort();
    case "forward":
      return forward(run, action.signal);
    case "drop":
      return run.drop(action.signal);
    case "end-group":
      return end(run, run.child as Child, action.watch);
    case "kill-all":
      run.killing = orSaid(() => killAll(run, run.child as Child), run.log, "the command's rest could not be killed");
      return;
    case "arm":
      run.deadlines.set(
        action.deadline,
        deadline(action.ms, () => run.queue.push({ kind: "deadline", of: action.deadline })),
      );
      return;
    case "disarm":
      return run.deadlines.get(action.deadline)?.();
    case "stay":
      return run.log.info({ reason: action.reason }, "the sidecars are not quit");
    case "quit":
      return quit(run);
    case "exit":
      return;
  }
}

function wait(run: Run): void {
  const { settings, env, log, queue } = run;
  const { signal } = run.stopWaiting;
  const onNotReady = (sidecar: Sidecar, reason: string) => takeDrainBack(run, sidecar, reason);
  run.wait = startWait({ settings, targets: [], lookMs: settings.detect, env, log, signal, onNotReady });
  run.wait.done.then(
    () => {
      run.isReady = true;
      queue.push({ kind: "ready" });
    },
    (error: unknown) => {
      if (signal.aborted) return;
      logBug(run.log, error, "the wait failed");
      queue.push({ kind: "wait-failed", exitCode: EXIT.bug });
    },
  );
}

function giveUpWaiting(run: Run, isStarting: boolean): void {
  const reason = run.wait?.failure() ?? "";
  if (isStarting) run.log.warn({ reason }, "starting all the same");
  else fail(run, reason);
}

function start(run: Run): void {
  run.since.run = performance.now();
  try {
    run.child = spawn(run.command, mustLeadGroup(run));
    leaveFolder(run);
    const { pid } = run.child;
    run.queue.push({ kind: "started", pid });
    surviveErrors((error) => logBug(run.log, error, "an error that nobody has caught"));
    giveMemoryBack();
    run.log.info({ pid, command: run.command.words[0] }, "started");
    takeHiddenDrainsBack(run);
    setTimeout(() => rehearse(run), REHEARSAL_AFTER_MS);
  } catch (error) {
    if (run.child !== undefined) return logBug(run.log, error, "the start went wrong");
    if (!(error instanceof Failure)) throw error;
    run.queue.push({ kind: "start-failed", exitCode: error.exitCode });
    fail(run, error.message);
  }
}

/** So that no volume is busy for ebb's sake; it stays where it may have to open a file that is named from there. */
function leaveFolder({ settings, env }: Run): void {
  for (const path of [settings.terminationLog, settings.podAnnotations, env.NODE_EXTRA_CA_CERTS]) {
    if (path !== undefined && path !== "" && path[0] !== "/") return;
  }
  native.leaveFolder();
}

/** After the child's first instructions, which have the processor to themselves. */
const REHEARSAL_AFTER_MS = 5;

/** While the child runs nobody waits for ebb. */
function rehearse(run: Run): void {
  const sidecar = waitedFor(run, "quit")?.find(({ quits }) => quits.length > 0);
  if (sidecar === undefined || run.exit !== undefined || run.settings.quitOn === "never") return;
  rehearseQuit(sidecar.name).catch((error: unknown) => logBug(run.log, error, "the quit's rehearsal failed"));
}

/** Where ebb does more than to pass on what the terminal sends, that must not reach the child without ebb. */
function mustLeadGroup({ settings, leaving }: Run): boolean {
  return settings.group || settings.signal.length > 0 || leaving.drainMs > 0 || leaving.graceMs !== undefined;
}

/** Says why ebb failed, also where `kubectl describe pod` shows it. */
function fail(run: Run, reason: string): void {
  run.log.error({}, reason);
  writeTerminationLog(run.settings.terminationLog, reason);
}

function drain(run: Run): void {
  run.since.drain = performance.now();
  const done = () => {
    run.since.drained = performance.now();
    run.queue.push({ kind: "drained" });
  };
  run.draining = orSaid(() => drainSidecars(run), run.log, "the drain failed").then(done);
}

function forward(run: Run, signal: SignalNumber): void {
  const child = run.child as Child;
  run.log.debug({ signal: signalName(signal), pid: child.pid }, "forwarded");
  if (signal === SIG.CONT && child.terminal >= 0 && !child.sharesGroup && run.exit === undefined)
    return resumeChild(child);
  if (suspends(signal)) child.isToStop = true;
  else if (signal === SIG.CONT) child.isToStop = false; // both may have been read at once
  send(run.log, receiverOf(run, child), signal);
}

function receiverOf({ settings }: Run, { pid }: Child): number {
  return settings.group ? -pid : pid;
}

function end(run: Run, child: Child, watch: boolean): void {
  endGroup(run.log, child, watch);
  if (watch) watchGroup(run, child, () => run.queue.push({ kind: "group-gone" }));
}

function quit(run: Run): void {
  run.since.quit = performance.now();
  const done = () => run.queue.push({ kind: "quit-done" });
  const rest = (isWhole?: boolean) => (isWhole === true ? done() : quitRest(run));
  orSaid(() => quitSidecars(run), run.log, "the quits failed").then(rest, rest);
}

/** Where a bug in ebb keeps a quit from being asked, it is asked once, plainly. */
function quitRest(run: Run): void {
  const done = () => run.queue.push({ kind: "quit-done" });
  orSaid(() => quitPlainly(run), run.log, "the plain quits failed").then(done, done);
}

/** One line at the end: how long each phase took, and how it ended. */
function finish({ since, exit, log }: Run, exitCode: number): void {
  log.info(summarize({ since, now: performance.now(), exit, exitCode }), "done");
}
