import type { Command, Invocation } from "../command.ts";
import { argvIndexOf, readCommandCall } from "../core/cli/call.ts";
import { finding, logging, pickOptions } from "../core/cli/options.ts";
import { EXIT, Failure } from "../core/run/exit.ts";
import { over, plainCodeOf, stepPlainly } from "../core/run/plain-step.ts";
import { planShutdown } from "../core/run/shutdown-budget.ts";
import { summarize } from "../core/run/summary.ts";
import { begin, step } from "../core/run/supervision.ts";
import type { Action, Deadline, Event, RunPolicy, State, Step } from "../core/run/supervision-steps.ts";
import { createDeadlines, runMachine } from "../system/machine.ts";
import { native } from "../system/native/native.ts";
import { createLog } from "../system/output/log.ts";
import { createDropper } from "../system/process/signals.ts";
import { createQueue } from "../system/queue.ts";
import { listen } from "../system/run/listen.ts";
import { attemptTo, performAction } from "../system/run/perform.ts";
import { ofRun, type Run } from "../system/run/run.ts";
import { keepAlive } from "../system/timer.ts";

const pick = () => pickOptions(...finding, ...logging, ...ofRun);

/**
 * `ebb run` waits for the sidecars, starts the command, forwards signals and reaps, drains and quits the sidecars, and
 * exits with the command's code. core/run/supervision.ts makes each decision.
 */
export const command: Command = {
  summary: "wait for the sidecars, run a command, quit them (the default)",
  usage: "[run] [flags] -- CMD ARG...",
  get options() {
    return pick();
  },
  main,
};

async function main(invocation: Invocation): Promise<number> {
  const run = prepare(invocation);
  const policy = policyOf(run);
  const letGo = keepAlive();
  listen(run, invocation.signals);
  const machine = {
    begin: () => begin(policy),
    step: (state: State, event: Event) => next(run, state, event, policy),
    perform: (action: Action) => performAction(run, action),
  };
  const { exitCode } = await runMachine(machine, run.queue);
  await run.undoing;
  await run.draining;
  await run.killing;
  attemptTo("say how long it took", run, () => finish(run, exitCode));
  letGo();
  return exitCode;
}

/**
 * Takes a step of the state machine. Once there is a command, after an error that nobody expects, it takes the step
 * plainly (`stepPlainly`); if that fails too, the run keeps its state, or ends with the command's code if the command
 * has ended.
 */
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
  const queue = createQueue<Event>();
  return {
    env,
    settings: call.values,
    shutdown: planShutdown({ drainMs: drain, graceMs: grace, podGraceMs: podGrace }),
    command: { words: call.command, argvIndex: argvIndexOf(argvIndex, call) },
    log,
    drop: createDropper(log),
    queue,
    stopWaiting: new AbortController(),
    cutDrain: new AbortController(),
    deadlines: createDeadlines<Deadline>((of) => queue.push({ kind: "deadline", of })),
    since: { wait: performance.now() },
    isReady: false,
    asked: new Set(),
  };
}

function policyOf({ settings, shutdown }: Run): RunPolicy {
  return {
    quitOn: settings.quitOn,
    restartPolicy: settings.restartPolicy,
    waitMs: settings.noWait ? undefined : settings.waitTimeout,
    onWaitTimeout: settings.onWaitTimeout,
    waitFailureCode: EXIT.unavailable,
    stopSignals: settings.stopSignal,
    endsGroup: settings.group,
    drains: shutdown.drainMs > 0,
    graceMs: shutdown.graceMs,
    rewrite: new Map(settings.signal),
    expectedCodes: settings.expectExit,
  };
}

/** Logs one line at the end: how long each phase took, and the exit code. */
function finish({ since, exit, log }: Run, exitCode: number): void {
  log.info(summarize({ since, now: performance.now(), exit, exitCode }), "done");
}
