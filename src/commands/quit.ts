import { beginLog } from "../begin-log.ts";
import { badCall, type Command, type Invocation } from "../command.ts";
import { findSidecars } from "../pod/find/find.ts";
import { warnOfLeftOut } from "../pod/find/left-out.ts";
import { logQuit, quitAll } from "../pod/quit/quit.ts";
import { readFlagCall } from "../shared/cli/core/call.ts";
import { option } from "../shared/cli/core/option.ts";
import { optionsOf } from "../shared/cli/core/options.ts";
import { boolean } from "../shared/cli/core/syntax.ts";
import { EXIT } from "../shared/core/exit.ts";
import { trustFile } from "../shared/http/trust.ts";
import { abortedAfter, leftUntil } from "../shared/io/timer.ts";
import { isNone } from "../shared/sidecars/core/choice.ts";
import { unnamedFor, whyUnnamed } from "../shared/sidecars/core/unnamed.ts";

/**
 * `ebb quit` tells this pod's sidecars to quit. Exits 0 if every sidecar accepted the quit and has stopped or will stop
 * by itself, or surely is not here; otherwise, or if ebb left out one that only a port or only a name tells of, 69.
 */
export const command: Command = {
  summary: "shut down the sidecars, and report what each one answered",
  usage: "quit [flags]",
  examples: [
    { call: "ebb quit", why: "At the end of a Job that ebb did not start." },
    { call: "ebb quit --sidecar istio", why: "With kubectl exec: ends a pod that hangs because its proxy still runs." },
    {
      call: "ebb quit --sidecar none --quit 'POST http://localhost:8001/shutdown' --header 'authorization: Bearer abc'",
      why: "A sidecar that ebb does not know.",
    },
  ],
  exits: [
    ["0", "every sidecar is gone, or there is none"],
    badCall,
    ["69", "a sidecar refused, or is still there; the log says which and why"],
  ],
  seeAlso: ["run", "drain"],
  get options() {
    return options();
  },
  main,
};

function options() {
  return {
    ...optionsOf("quit"),
    ignoreNotFound: option({
      flag: "ignore-not-found",
      group: "shutdown",
      initial: true,
      syntax: boolean,
      isFlagOnly: true,
      isRare: true,
      help: "count a sidecar that is not in this pod as shut down; with =false, count it as a failure, and look for an Envoy that does not listen yet for half of --quit-timeout",
    }),
  };
}

async function main({ args, env, compat }: Invocation): Promise<number> {
  const call = readFlagCall(options(), { args, env, compat }, command.usage);
  const settings = call.values;
  const log = beginLog(settings, { env, compat });
  trustFile(settings.caFile);
  const end = performance.now() + settings.quitTimeout;
  const actMs = settings.quitTimeout;
  // one that is surely here may not listen yet, and the usual port is the wrong one to ask until then
  const namedForMs = settings.ignoreNotFound ? 0 : actMs / 2;
  const look = { env, forMs: 0, actMs, anyPort: true, namedForMs, signal: abortedAfter(actMs), log };
  const here = await findSidecars(settings, look);
  warnOfLeftOut(settings, { env, log });
  const { sidecars } = here;
  if (isNone(settings.sidecar) && sidecars.length === 0)
    log.info({}, "nothing to shut down: --sidecar none, and neither --quit nor --signal-process");
  const doubts = [...here.doubts, ...unnamedFor(["quit"], here, settings).map(whyUnnamed)];
  for (const reason of doubts) log.error({ reason }, "did not shut down a proxy");
  for (const { name } of sidecars.filter(({ isNative }) => isNative)) {
    log.info({ sidecar: name }, "left a native sidecar running: the kubelet stops it after the app");
  }
  const reports = await quitAll(sidecars, {
    timeoutMs: leftUntil(end),
    headers: settings.header,
    known: () => "unknown",
    ...(settings.ignoreNotFound ? { mayBeAbsent: true } : {}),
  });
  for (const report of reports) logQuit(log, "error", report);
  return reports.every(({ ok }) => ok) && doubts.length === 0 ? EXIT.ok : EXIT.unavailable;
}
