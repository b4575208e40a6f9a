import { beginLog } from "../begin-log.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import { announce, standsBesideOwner } from "../pod/announce/announce.ts";
import { logBug } from "../pod/bug.ts";
import { readAnnotations } from "../pod/find/annotations.ts";
import { refuseUnnamed } from "../pod/find/refuse-unnamed.ts";
import { createDeadlines, runMachine } from "../pod/machine.ts";
import { type Child, type ChildChange, reapChildren } from "../pod/process/child.ts";
import { stopWith, takeTerminalBack } from "../pod/process/job-control.ts";
import { answerToStop, type StopAnswer } from "../pod/run/core/stop-answer.ts";
import { summarize } from "../pod/run/core/summary.ts";
import { begin, isMissedStop, isStop, step } from "../pod/run/core/supervision.ts";
import { stepAfterBug } from "../pod/run/core/supervision-after-bug.ts";
import type { Action, Deadline, Event, RunPolicy, State } from "../pod/run/core/supervision-steps.ts";
import { performAction } from "../pod/run/perform.ts";
import type { Run } from "../pod/run/run.ts";
import { argvIndexOf, type Call, readCommandCall } from "../shared/cli/core/call.ts";
import { ownWords } from "../shared/cli/core/names.ts";
import { type OptionsOf, optionsOf } from "../shared/cli/core/options.ts";
import { EXIT, Failure } from "../shared/core/exit.ts";
import { fitMinimum, isShortened, planShutdown, type ShutdownPlan } from "../shared/core/shutdown-budget.ts";
import { SIG, signalName } from "../shared/core/signal.ts";
import { trustFile } from "../shared/http/trust.ts";
import { createQueue } from "../shared/io/queue.ts";
import { keepAlive } from "../shared/io/timer.ts";
import { native } from "../shared/native/native.ts";
import { createDropper, type Signals } from "../shared/process/signals.ts";
import { isNone } from "../shared/sidecars/core/choice.ts";

/**
 * `ebb run` waits for the sidecars, starts the command, forwards signals and reaps, drains and quits the sidecars, and
 * exits with the command's code. pod/run/core/supervision.ts makes each decision.
 */
export const command: Command = {
  summary: "wait for the sidecars, run a command, shut them down",
  usage: "run [flags] -- CMD ARG...",
  examples: [
    {
      call: "ebb run -- /app --month 10",
      why: "As ENTRYPOINT, or as `command` in a Job: the Job completes, because ebb shuts down the sidecar when /app has ended.",
    },
    {
      call: "ebb run --drain 40s --pod-grace 60s --grace 10s --restart-policy Always -- /server",
      why: "In a Deployment, without a preStop hook: on a stop signal, ebb drains the proxy, then stops /server, with SIGKILL after 10 s.",
    },
    {
      call: "ebb run --sidecar envoy --admin http://localhost:9000 -- /app",
      why: "With your own Envoy, whose admin interface is on port 9000 instead of 9901.",
    },
    {
      call: "ebb run --wait-timeout 30s --on-wait-timeout start -- /app",
      why: "Starts /app after 30 s, even if the proxy is not ready.",
    },
  ],
  exits: [
    ["0-255", "the command's own exit code, unchanged (except with --expect-exit)"],
    ["128+n", "the command, or the wait before it, was ended by signal n"],
    ["127", "the command, its interpreter or its loader was not found"],
    ["126", "the command was found but cannot be executed"],
    badCall,
    ["69", "the sidecars were not ready in time"],
  ],
  seeAlso: ["wait", "drain", "quit", "config"],
  get options() {
    return optionsOf("run");
  },
  main,
};

async function main(invocation: Invocation): Promise<number> {
  const run = prepare(invocation);
  const policy = policyOf(run);
  const letGo = keepAlive();
  listen(run, policy, invocation.signals);
  await refuseUnnamed("run", run.settings, invocation);
  await warnOfStop(run);
  const machine = {
    begin: () => begin(policy),
    step: (state: State, event: Event) => {
      const next = unlessBug(run, () => step(state, event, policy)) ?? stepAfterBug(state, event, run.exit, policy);
      unlessBug(run, () => logStop(run, answerToStop(state, event, next[1], policy)));
      return next;
    },
    perform: (action: Action) => unlessBug(run, () => performAction(run, action)),
  };
  const { exitCode } = await runMachine(machine, run.queue);
  await Promise.all(run.endsAfter);
  unlessBug(run, () => finish(run, exitCode));
  letGo();
  return exitCode;
}

/**
 * Turns signals and the child's end into events in the run's queue, from now on. Reaps all children; stops ebb when the
 * child stops.
 */
function listen(run: Run, policy: RunPolicy, signals: Signals): void {
  signals.subscribe((signal, { wasIgnored, isEarly }) => {
    if (signal === SIG.CONT && run.child !== undefined) run.child.isToStop = false; // even before its stop is read
    const isTyped = signal === SIG.INT && (run.child?.terminal ?? -1) >= 0;
    const event: Event = { kind: "signal", signal, wasIgnored, isEarly, isTyped };
    run.queue.push(event);
    run.isToEnd ||= isStop(signal, policy);
    run.log.debug({ signal: signalName(signal) }, "received a signal");
    if (run.child === undefined || run.exit !== undefined || !isMissedStop(event, policy)) return;
    const stopSignal = policy.stopSignals.map(signalName).join();
    run.log.warn({ stopSignal }, "SIGTERM is not in --stop-signal: forwarding it without a drain or a grace period");
  });
  signals.onChildChange(() => {
    reapChildren((pid, change) => {
      if (pid === run.child?.pid) onChildChange(run, run.child, change);
    });
  });
}

function onChildChange(run: Run, child: Child, change: ChildChange): void {
  if ("stop" in change) return stopWith(child, change.stop);
  run.exit = change.exit;
  run.queue.push({ kind: "reaped", pid: child.pid, exit: change.exit });
  takeTerminalBack(child); // before the loop takes the event
}

function logStop({ log, child, shutdown }: Run, stop: StopAnswer | undefined): void {
  if (stop === undefined) return;
  const atMostMs = stop.by === "drain" ? shutdown.drainMs : undefined;
  log.info({ signal: signalName(stop.signal), pid: child?.pid, atMostMs }, stop.message);
}

/**
 * Returns what `act` returns. Once the command has started, logs an error of `act` as a bug and returns undefined: the
 * loop goes on.
 */
function unlessBug<T>(run: Run, act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (run.child === undefined) throw error;
    logBug(run.log, error, "a step of the run failed");
    return undefined;
  }
}

function prepare({ args, argvIndex, env, compat }: Invocation): Run {
  const call = readCommandCall(optionsOf("run"), { args, env, compat });
  refuseOwnWord(call, { args, compat });
  const { parentDeath } = call.values;
  const log = beginLog(call.values, { env, compat });
  const ownership = ownershipOf(call.values);
  if (ownership === "beside") log.info({}, BESIDE);
  trustFile(call.values.caFile);
  if (parentDeath !== undefined) native.parentDeath(parentDeath);
  const queue = createQueue<Event>();
  const values = ownership === "beside" ? { ...call.values, ...owningNothing } : call.values;
  const shutdown = planShutdown(values);
  return {
    env,
    settings: values,
    shutdown: { ...shutdown, minMs: fittingMinimum(call, shutdown) },
    command: { words: call.command, argvIndex: argvIndexOf(argvIndex, call) },
    log,
    drop: createDropper(log),
    queue,
    stopWaiting: new AbortController(),
    cutDrain: new AbortController(),
    restarted: new Set(),
    alive: new Set(),
    endsAfter: [],
    ownership,
    deadlines: createDeadlines<Deadline>((of) => queue.push({ kind: "deadline", of })),
    since: { wait: performance.now() },
    isReady: false,
    isToEnd: false,
  };
}

type RunCall = Call<OptionsOf<"run">>;

/**
 * Refuses a call without a command line, and one whose first word is a command of ebb without `--` before it: `ebb run
 * status`, typed in a live pod, would end its proxy.
 */
function refuseOwnWord(
  { command: [word], commandAt }: RunCall,
  { args, compat }: Pick<Invocation, "args" | "compat">,
): void {
  if (word === undefined) throw new Failure(EXIT.usage, `run: expected a command; usage: ebb ${command.usage}`);
  if (compat !== undefined || args[commandAt - 1] === "--" || !ownWords.includes(word)) return;
  const ways = `write ebb ${word} or, to run a program of that name, ebb run -- ${word}`;
  throw new Failure(EXIT.usage, `run: ${word} is a command of ebb: ${ways}`);
}

/** The settings of an `ebb run` that stands beside the one that owns the sidecars: it only waits for them. */
const owningNothing = { quitOn: "never", drain: 0, lastOf: undefined, restartPolicy: undefined } as const;

const BESIDE = "the ebb run that is this container's first process owns the sidecars: this one drains and quits none";

/**
 * Returns whether this run serves sidecars, and owns them, which it then announces: the container's first process does,
 * if it is such a run. `kubectl exec POD -- ebb run` must not end the proxy of a live pod.
 */
function ownershipOf({ sidecar, ready, quit, signalProcess }: RunCall["values"]): Run["ownership"] {
  if (isNone(sidecar) && ready.length === 0 && quit.length === 0 && signalProcess.length === 0) return "none";
  if (standsBesideOwner()) return "beside";
  announce("owns"); // where that fails, nothing tells: as if there were no other
  return "owner";
}

/** Returns --min-drain, shortened if it is longer than the whole drain. */
function fittingMinimum({ values: { minDrain }, origins }: RunCall, { drainMs }: ShutdownPlan): number {
  const isKept = drainMs === 0 || minDrain <= drainMs || origins.minDrain === "default";
  return isKept ? minDrain : fitMinimum(minDrain, drainMs);
}

/** Says now, and not only when the pod is deleted, what of the stop is shortened. */
async function warnOfStop({ settings, shutdown, log }: Run): Promise<void> {
  if (shutdown.minMs === settings.minDrain && !isShortened(settings, shutdown)) return;
  const { stopSteps } = await import("../pod/run/core/stop-plan.ts"); // few starts need it
  const stop = stopSteps(settings, readAnnotations(settings.podAnnotations)).join("; ");
  log.warn({ stop }, "the stop does not fit: shortened it");
}

function policyOf({ settings, shutdown, ownership }: Run): RunPolicy {
  return {
    quitOn: settings.quitOn,
    isBesideOwner: ownership === "beside",
    restartPolicy: settings.restartPolicy,
    restartCodes: settings.restartCodes,
    hasPeers: settings.lastOf !== undefined,
    waitMs: settings.noWait ? undefined : settings.waitTimeout,
    onWaitTimeout: settings.onWaitTimeout,
    waitFailureCode: EXIT.unavailable,
    stopSignals: settings.stopSignal,
    endsGroup: settings.signalGroup,
    drains: shutdown.drainMs > 0,
    graceMs: shutdown.graceMs,
    rewrite: new Map(settings.rewriteSignal),
    expectedCodes: settings.expectExit,
  };
}

/** Logs one line at the end: how long each phase took, and the exit code. */
function finish({ since, exit, log }: Run, exitCode: number): void {
  log.info(summarize({ since, now: performance.now(), exit, exitCode }), "done");
}
