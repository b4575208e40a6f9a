import { beginLog } from "../begin-log.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import { refuseUnnamed } from "../pod/find/refuse-unnamed.ts";
import { exec } from "../pod/process/child.ts";
import { startWait, type Wait } from "../pod/wait/waiting.ts";
import { argvIndexOf, readOperandCall } from "../shared/cli/core/call.ts";
import { headersOfFlag } from "../shared/cli/core/options/sidecars.ts";
import { options, optionsOf, type Settings } from "../shared/cli/core/options.ts";
import { EXIT, Failure } from "../shared/core/exit.ts";
import { redactUrl } from "../shared/core/redact.ts";
import { endsWait, type SignalNumber } from "../shared/core/signal.ts";
import { trustFile } from "../shared/http/trust.ts";
import { deadline } from "../shared/io/timer.ts";
import { A_SECOND, keepLive } from "../shared/output/live.ts";
import type { Log } from "../shared/output/log.ts";
import { finishErrors } from "../shared/output/output.ts";
import { createDropper, holdSignals, raise, type SignalReader, type Signals } from "../shared/process/signals.ts";
import { isNone } from "../shared/sidecars/core/choice.ts";
import { hintAtTcp, type Probe, parseTarget, TARGET_FORMS, withHeaders } from "../shared/sidecars/core/probe.ts";

/** `ebb wait` waits until sidecars and targets are ready, and then becomes the command, if there is one. */
export const command: Command = {
  summary: "wait until sidecars and targets are ready, then become a command",
  usage: "wait [flags] [TARGET...] [-- CMD ARG...]",
  examples: [
    { call: "ebb wait -- /server", why: "As ENTRYPOINT of a server: /server starts when the proxy is ready." },
    {
      call: "ebb wait --wait-timeout 2m tcp://db:5432 http://auth:8080/healthz",
      why: "In an init container or a Job: waits for two other services, and exits with 69 after two minutes.",
    },
    {
      call: "ebb wait grpc://orders:50051/shop.Orders -- /server",
      why: "Waits until a gRPC server reports this service as SERVING.",
    },
    { call: "ebb wait --any tcp://db-0:5432 tcp://db-1:5432", why: "Waits until one of the two is ready." },
    {
      call: "ebb wait --sidecar none file:/shared/ready",
      why: "Waits until another container of the pod has written a file.",
    },
  ],
  exits: [
    ["0", "all is ready (with a command: its own exit code)"],
    ["128+n", "signal n ended the wait"],
    ["127, 126", "the command was not found (or its interpreter or loader), or cannot be executed"],
    badCall,
    ["69", "not ready in time"],
  ],
  seeAlso: ["run", "sleep"],
  get options() {
    return optionsOf("wait");
  },
  main,
};

async function main({ args, argvIndex, env, compat, signals }: Invocation): Promise<number> {
  const call = readOperandCall(optionsOf("wait"), { args, env, compat });
  const settings = { ...call.values, ready: call.values.ready.map((probe) => only(probe, compat?.readyStatus)) };
  const headers = headersOfFlag(call);
  const targets = call.operands.map((text) => withHeaders(readTarget(text), headers));
  if (settings.any && targets.length === 0)
    throw new Failure(EXIT.usage, "--any: expected TARGETs, as in ebb wait --any tcp://db-0:5432 tcp://db-1:5432");
  const log = beginLog(settings, { env, compat });
  trustFile(settings.caFile);
  if (isNone(settings.sidecar) && targets.length + settings.ready.length === 0)
    log.info({}, "nothing to wait for: --sidecar none, and no target");
  const stop = new AbortController();
  // if targets are named, a sidecar that is not there yet is not waited for
  const lookMs = targets.length > 0 ? 0 : settings.detectTimeout;
  const wait = startWait({
    settings,
    targets,
    any: settings.any,
    lookMs,
    after: refuseUnnamed("wait", settings, { env, compat }),
    env,
    log,
    signal: stop.signal,
  });
  const endLive = keepLive((waitedMs) => wait.line(waitedMs), A_SECOND);
  const early = createEarly(log);
  const outcome = await firstOf(wait, settings, signals, early);
  endLive();
  stop.abort();
  if (outcome === "out of time") {
    if (settings.onWaitTimeout === "fail") throw new Failure(EXIT.unavailable, wait.failure());
    log.warn({ reason: wait.failure() }, "not ready in time: continuing anyway");
  }
  if (typeof outcome === "number") return 128 + outcome;
  if (call.command.length === 0) return EXIT.ok;
  finishErrors();
  holdSignals();
  const late = lateStop(signals, early);
  if (late !== undefined) return 128 + late;
  for (const signal of early.kept) raise(signal);
  return exec({ words: call.command, argvIndex: argvIndexOf(argvIndex, call) });
}

function readTarget(text: string): Probe {
  const probe = parseTarget(text);
  if (probe !== undefined) return probe;
  const isSidecar = options.sidecar.syntax.parse(text) !== undefined;
  const hint = isSidecar ? `; did you mean --sidecar ${text}?` : hintAtTcp(text);
  throw new Failure(
    EXIT.usage,
    `wait: expected a target (${TARGET_FORMS}), got ${JSON.stringify(redactUrl(text))}${hint}`,
  );
}

/** Returns the probe so that only this status is ready; if the status is undefined, as it is. */
function only(probe: Probe, status: number | undefined): Probe {
  return status === undefined || probe.kind !== "http" ? probe : { ...probe, only: status };
}

/** The signals that come during the wait and do not end it. */
interface Early {
  /** The signals for the command, which starts with them blocked. All others were dropped. */
  readonly kept: readonly SignalNumber[];
  readonly take: SignalReader;
}

function createEarly(log: Log): Early {
  const kept: SignalNumber[] = [];
  const drop = createDropper(log);
  return { kept, take: (signal, { isEarly }) => void (isEarly ? drop(signal) : kept.push(signal)) };
}

/** Resolves with what comes first: "ready", "out of time", or the number of a signal that ends the wait. */
function firstOf(
  wait: Wait,
  { waitTimeout }: Settings<"waitTimeout">,
  signals: Signals,
  early: Early,
): Promise<string | number> {
  const { promise, resolve, reject } = Promise.withResolvers<string | number>();
  wait.done.then(() => resolve("ready"), reject);
  if (waitTimeout !== Number.POSITIVE_INFINITY) deadline(waitTimeout, () => resolve("out of time"));
  signals.subscribe((signal, arrival) => {
    if (endsWait(signal)) resolve(signal);
    else early.take(signal, arrival);
  });
  return promise;
}

/**
 * Returns a stop signal that came just before signals were blocked, and would be lost when CMD replaces this process.
 */
function lateStop(signals: Signals, early: Early): number | undefined {
  let stop: number | undefined;
  signals.subscribe((signal, arrival) => {
    if (endsWait(signal)) stop ??= signal;
    else early.take(signal, arrival);
  });
  return stop;
}
