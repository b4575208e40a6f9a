import { toTenths } from "../../shared/core/duration.ts";
import { EXIT, Failure } from "../../shared/core/exit.ts";
import { graceAfter } from "../../shared/core/shutdown-budget.ts";
import { SIG, type SignalNumber, signalName, suspends } from "../../shared/core/signal.ts";
import { native } from "../../shared/native/native.ts";
import { A_SECOND, keepLive } from "../../shared/output/live.ts";
import { writeTerminationLog } from "../../shared/output/termination-log.ts";
import type { Sidecar } from "../../shared/sidecars/core/sidecar.ts";
import { logBug, runOrLogBug, setUncaughtHandler } from "../bug.ts";
import { warnOfLeftOut } from "../find/left-out.ts";
import { type Child, ownChildren, sendSignal, spawn } from "../process/child.ts";
import { resumeChild } from "../process/job-control.ts";
import { giveMemoryBack } from "../process/memory.ts";
import { endGroup, killAll, watchGroup } from "../process/process-group.ts";
import { startWait } from "../wait/waiting.ts";
import { announceDrained, announceRun } from "./announce-run.ts";
import { type Action, type Deadline, type Event, reasonToStay } from "./core/supervision-steps.ts";
import { drainSidecars, undoFormerDrain, undoHiddenDrains } from "./drain.ts";
import { keepSidecars, noteAgents, quit } from "./quit-sidecars.ts";
import type { Run } from "./run.ts";

/** Performs an action of the run. The work that it starts always ends in an event, also after a bug. */
export function performAction(run: Run, action: Action): void {
  switch (action.kind) {
    case "join":
      return join(run);
    case "wait":
      return wait(run);
    case "stop-waiting":
      return run.stopWaiting.abort();
    case "give-up-waiting":
      return giveUpWaiting(run, action.start);
    case "start":
      return start(run);
    case "drain":
      run.endsAfter.push(follow(run, "the drain failed", () => drain(run), { kind: "drained" }));
      return;
    case "cut-drain":
      return run.cutDrain.abort();
    case "announce-drained":
      return announceDrained(run);
    case "forward":
      return forward(run, action.signal);
    case "drop":
      return run.drop(action.signal);
    case "end-group":
      return end(run, run.child as Child, action.watch);
    case "warn-of-left":
      run.endsAfter.push(runOrLogBug(() => warnOfLeft(run), run.log, "what the command has left could not be read"));
      return;
    case "kill-all":
      return kill(run, run.child as Child);
    case "leave-child":
      return run.log.warn({ pid: run.child?.pid }, "the command still runs after SIGKILL: exiting without it");
    case "arm":
      return arm(run, action.deadline, action.ms);
    case "disarm":
      return run.deadlines.disarm(action.deadline);
    case "decide":
      void decide(run, action);
      return;
    case "stay":
      return keepSidecars(run, action.reason);
    case "quit":
      void follow(run, "the quits failed", () => quit(run), { kind: "quit-done" });
      return;
    case "exit":
      return;
  }
}

function join(run: Run): void {
  const work = async () => (await import("./peers.ts")).join(run); // few starts need it
  run.joining = runOrLogBug(work, run.log, "the other app containers could not be told of the start");
  void run.joining.then(() => run.queue.push({ kind: "joined" }));
}

async function decide(run: Run, end: { readonly exitCode: number; readonly stay: string | undefined }): Promise<void> {
  let stay: string | undefined = end.stay ?? "--last-of: a bug in ebb";
  const work = async (): Promise<void> => {
    const membership = await run.joining;
    const { leave } = await import("./peers.ts");
    if (membership !== undefined) stay = await leave(run, membership, end);
  };
  await runOrLogBug(work, run.log, "the other app containers could not be told of the end");
  run.queue.push({ kind: "decided", stay });
}

function wait(run: Run): void {
  const { settings, env, log, queue } = run;
  const { signal } = run.stopWaiting;
  const onNotReady = (sidecar: Sidecar, reason: string) => undoFormerDrain(run, sidecar, reason);
  const untilReady = (): Promise<void> => {
    run.wait = startWait({ settings, targets: [], lookMs: settings.detectTimeout, env, log, signal, onNotReady });
    return run.wait.done;
  };
  const work = async (): Promise<void> => {
    await untilReady();
    run.deadlines.disarm("wait"); // the sidecars are ready: to look at them is no wait
    while (!signal.aborted && (await undoHiddenDrains(run)) && !signal.aborted) {
      arm(run, "wait", settings.waitTimeout);
      await untilReady();
      run.deadlines.disarm("wait");
    }
  };
  const done = work();
  const endLive = keepLive((waitedMs) => run.wait?.line(waitedMs) ?? "", A_SECOND);
  signal.addEventListener("abort", endLive, { once: true });
  done.then(
    () => {
      endLive();
      run.isReady = true;
      queue.push({ kind: "ready" });
    },
    (error: unknown) => {
      endLive();
      if (signal.aborted) return;
      logBug(run.log, error, "the wait failed");
      queue.push({ kind: "wait-failed", exitCode: EXIT.bug });
    },
  );
}

function giveUpWaiting(run: Run, isStarting: boolean): void {
  const reason = run.wait?.failure() ?? "still telling the other app containers of the start";
  if (isStarting) run.log.warn({ reason }, "not ready in time: starting the command anyway");
  else {
    run.log.error({ reason }, "did not start the command: not ready in time");
    writeTerminationLog(run.settings.terminationLog, reason);
  }
}

function start(run: Run): void {
  noteAgents(run); // a stop may come as soon as the command runs
  run.since.run = performance.now();
  try {
    run.child = spawn(run.command, mustLeadGroup(run));
    leaveFolder(run);
    const { pid } = run.child;
    run.queue.push({ kind: "started", pid });
    setUncaughtHandler((error) => logBug(run.log, error, "an uncaught error"));
    giveMemoryBack();
    run.log.info({ pid, command: run.command.words[0] }, "started the command");
    if (reasonToStay(0, run.settings) === undefined) warnOfLeftOut(run.settings, run);
    void runOrLogBug(() => announceRun(run), run.log, "the run could not be announced");
  } catch (error) {
    if (run.child !== undefined) return logBug(run.log, error, "the start went wrong");
    if (!(error instanceof Failure)) throw error;
    run.queue.push({ kind: "start-failed", exitCode: error.exitCode });
    run.log.error({ reason: error.message }, "the command did not start");
    writeTerminationLog(run.settings.terminationLog, error.message);
  }
}

/**
 * Leaves the working directory, so that no volume is busy for ebb's sake, unless ebb may have to open a file by a
 * relative path.
 */
function leaveFolder({ settings, env }: Run): void {
  for (const path of [settings.terminationLog, settings.podAnnotations, env.NODE_EXTRA_CA_CERTS]) {
    if (path !== undefined && path !== "" && path[0] !== "/") return;
  }
  native.leaveFolder();
}

/**
 * Reports whether the child needs a process group of its own: otherwise the terminal's signals would reach it past
 * ebb's options.
 */
function mustLeadGroup({ settings, shutdown }: Run): boolean {
  return (
    settings.signalGroup || settings.rewriteSignal.length > 0 || shutdown.drainMs > 0 || shutdown.graceMs !== undefined
  );
}

/** Does `work`, logs a bug if it fails, and then queues `event`. Never rejects. */
async function follow(run: Run, failure: string, work: () => Promise<void>, event: Event): Promise<void> {
  await runOrLogBug(work, run.log, failure);
  run.queue.push(event);
}

async function drain(run: Run): Promise<void> {
  run.since.drain = performance.now();
  await drainSidecars(run);
  run.since.drained = performance.now();
}

function arm(run: Run, deadline: Deadline, ms: number): void {
  if (deadline !== "grace") return run.deadlines.arm(deadline, ms);
  const now = performance.now();
  run.graceMs = toTenths(graceAfter(now - (run.since.drain ?? now), run.shutdown));
  run.deadlines.arm(deadline, run.graceMs);
}

function forward(run: Run, signal: SignalNumber): void {
  const child = run.child as Child;
  run.log.debug({ signal: signalName(signal), pid: child.pid }, "forwarded a signal");
  if (signal === SIG.CONT && child.terminal >= 0 && !child.sharesGroup && run.exit === undefined)
    return resumeChild(child);
  if (suspends(signal)) child.isToStop = true;
  else if (signal === SIG.CONT) child.isToStop = false; // both may have been read at once
  sendSignal(run.log, receiverOf(run, child), signal);
}

function receiverOf({ settings }: Run, { pid }: Child): number {
  return settings.signalGroup ? -pid : pid;
}

function kill(run: Run, child: Child): void {
  run.endsAfter.push(runOrLogBug(() => killAll(run, child), run.log, "the command's rest could not be killed"));
}

function end(run: Run, child: Child, watch: boolean): void {
  endGroup(run.log, child, watch);
  if (watch) watchGroup(run, child, () => run.queue.push({ kind: "group-gone" }));
}

/** Looks at what the command has left, if anything: the end of most commands has to wait for nothing here. */
async function warnOfLeft({ child, settings, log }: Run): Promise<void> {
  const { pid, others } = child as Child;
  if (ownChildren()?.every((left) => others.includes(left)) === true) return;
  const { warnOfProcesses } = await import("../process/left-processes.ts");
  await warnOfProcesses(log, others, settings.signalGroup ? pid : undefined);
}
