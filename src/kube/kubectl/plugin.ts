import type { CallContext, readOperandCall } from "../../core/cli/call.ts";
import type { reaperOptions } from "../../core/cli/cluster/reaper-options.ts";
import { expandShortFlags } from "../../core/cli/short-flags.ts";
import { nearest } from "../../core/cli/suggestion.ts";
import { type Completer, completionOf } from "../../core/kubectl/completion.ts";
import {
  clusterOptionsOf,
  farDrainOptions,
  type PodOptions,
  pluginShort,
  podNameIn,
  podOptionsOf,
  translate,
} from "../../core/kubectl/options.ts";
import { doctorHelp, listCommands, type PluginHelp, podCommandsOf, reapHelp } from "../../core/kubectl/pod-commands.ts";
import { usableMethods } from "../../core/reap/policy.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import type { Sidecar } from "../../core/sidecars/sidecar.ts";
import type { DrainOptions } from "../../system/envoy/drain.ts";
import type { createLog } from "../../system/output/log.ts";
import type { Signals } from "../../system/process/signals.ts";
import { onStop } from "../../system/process/stop.ts";
import { ApiError, isConflict, isTransient } from "../api/api-error.ts";
import { drainPod, explainPod, quitPod } from "./end.ts";
import { completeNames } from "./names.ts";
import { type Around, type ClusterSettings, openPod, openSession, type PodSession } from "./session.ts";
import { type Asker, listPods, showPod } from "./status.ts";

/** A call of one of the plugin's commands: an Invocation (command.ts). */
export interface PluginCall extends CallContext {
  readonly argvIndex: number | undefined;
  readonly signals: Signals;
}

/** A command of the plugin, or of ebb. */
export interface PluginCommand extends PluginHelp {
  main(call: PluginCall): Promise<number>;
}

/** What the plugin shares with ebb's other commands: the caller's, because it would be in the executable twice. */
export interface Shared extends Completer {
  readonly reaperOptions: typeof reaperOptions;
  readonly readOperandCall: typeof readOperandCall;
  readonly createLog: typeof createLog;
  readonly drainAll: (sidecars: readonly Sidecar[], options: DrainOptions) => Promise<boolean>;
  readonly asker: Asker;
  /** ebb's commands by name. */
  readonly commands: Readonly<Record<string, PluginCommand>>;
}

/** kubectl's plugin. */
export interface Plugin {
  /** The text of --help. */
  readonly help: string;
  /** Returns the command of this name. @throws Failure(64) if there is none */
  command(name: string): PluginCommand;
  /** Resolves with what kubectl_complete-ebb prints. Never rejects: a shell has no place for the reason. */
  complete(words: readonly string[], env: CallContext["env"]): Promise<string>;
}

const NAMES_MS = 3000;

/** Creates kubectl's plugin. `name` is what users type for it. */
export function createPlugin(name: string, shared: Shared): Plugin {
  const commands = { ...commandsOfPods(shared), ...commandsOfCluster(shared) };
  return {
    help: listCommands(name, commands),
    command(word) {
      const found = Object.hasOwn(commands, word) ? commands[word as keyof typeof commands] : undefined;
      if (found !== undefined) return found;
      if (word.startsWith("-"))
        throw new Failure(EXIT.usage, `COMMAND: expected one before the flags, as in ${name} status -A, got "${word}"`);
      const all = Object.keys(commands);
      const near = nearest(word, all);
      const hint = near === undefined ? `${name} has ${all.join(", ")}` : `did you mean ${name} ${near}?`;
      throw new Failure(EXIT.usage, `${word}: no such command; ${hint}`);
    },
    async complete(words, env) {
      const asked = completionOf(words, commands, shared);
      if (asked.kind === "lines") return asked.text;
      try {
        return await completeNames(asked, { ...quietly(env, shared), signal: AbortSignal.timeout(NAMES_MS) });
      } catch {
        return ":4\n";
      }
    },
  };
}

function quietly(env: CallContext["env"], { createLog }: Shared): Around {
  const log = createLog({ logLevel: "error", logFormat: "text", quiet: true }, { env: {} });
  return { env, log, signal: new AbortController().signal };
}

/** Returns `reap`, `doctor` and `inject`: ebb's own commands with kubectl's flags, in one namespace without -A. */
function commandsOfCluster(shared: Shared) {
  const { reaper, doctor, inject } = shared.commands as Readonly<Record<string, PluginCommand>> &
    Record<"reaper" | "doctor" | "inject", PluginCommand>;
  const scoped = (command: PluginCommand, fixed: readonly string[]): PluginCommand => ({
    ...command,
    options: clusterOptionsOf(command.options as typeof shared.reaperOptions),
    main: async (call) =>
      await command.main({ ...call, args: [...fixed, ...(await scopedArgs(command, call, shared))] }),
  });
  return {
    reap: scoped({ ...reaper, ...reapHelp, options: optionsOfReap(reaper.options) }, ["--once"]),
    inject,
    doctor: scoped({ ...doctor, ...doctorHelp }, []),
  };
}

/** Leaves out what only replicas that watch use. */
function optionsOfReap(all: PluginCommand["options"]): PluginCommand["options"] {
  const { once: _, lease: __, leaseNamespace: ___, healthListen: ____, resync: _____, ...options } = all;
  return options;
}

async function scopedArgs(
  { options }: PluginCommand,
  { args, env }: PluginCall,
  shared: Shared,
): Promise<readonly string[]> {
  const call = translate(expandShortFlags(args, pluginShort));
  if (call.namespace !== "current") return call.args;
  const { kubeconfig, context } = shared.reaperOptions;
  const { values } = shared.readOperandCall({ ...options, kubeconfig, context }, { args: call.args, env });
  const { namespace } = await openSession({ ...values, namespace: undefined }, quietly(env, shared));
  return ["--namespace", namespace, ...call.args];
}

function commandsOfPods(shared: Shared): Readonly<Record<keyof PodOptions, PluginCommand>> {
  const options = podOptionsOf(shared.reaperOptions);
  const help = podCommandsOf(options);
  const read = <K extends keyof PodOptions>(name: K, { args, env }: PluginCall) => {
    try {
      return shared.readOperandCall(options[name], { args: expandShortFlags(args, pluginShort), env });
    } catch (error) {
      if (!(error instanceof Error && error.message.includes("unknown flag")) || name === "why") throw error;
      throw new Failure(
        EXIT.usage,
        `${error.message}; flags of the ebb in the pod come after --: kubectl ebb ${name} POD -- FLAG`,
      );
    }
  };
  return {
    status: {
      ...help.status,
      async main(call) {
        const { values: settings, operands, command: words } = read("status", call);
        const work = { settings, asker: shared.asker };
        if (operands.length === 0 && words.length === 0)
          return await untilStopped(call, shared, async (one) =>
            listPods({ ...work, ...(await openSession(settings, one)) }),
          );
        if (settings.allNamespaces || settings.selector !== undefined)
          throw new Failure(EXIT.usage, "POD: expected none with --all-namespaces or --selector");
        return await withPod({ ...call, operands, settings }, shared, (pod) => showPod(words, { ...pod, ...work }));
      },
    },
    drain: {
      ...help.drain,
      async main(call) {
        const { values: settings, operands, command: words } = read("drain", call);
        return await withPod({ ...call, operands, settings }, shared, (pod) => {
          const drain = (sidecars: readonly Sidecar[]) => drainThrough(sidecars, words, { ...pod, shared });
          return drainPod(words, { ...pod, settings, drain });
        });
      },
    },
    quit: {
      ...help.quit,
      async main(call) {
        const { values: settings, origins, operands, command: words } = read("quit", call);
        const methods = usableMethods(settings, origins.methods !== "default");
        return await withPod({ ...call, operands, settings }, shared, (pod) =>
          quitPod(words, { ...pod, settings, methods }),
        );
      },
    },
    why: {
      ...help.why,
      async main(call) {
        const { values: settings, origins, operands: names, command } = read("why", call);
        const operands = [...names, ...command];
        const methods = usableMethods(settings, origins.methods !== "default");
        return await withPod({ ...call, operands, settings }, shared, (pod) =>
          explainPod({ ...pod, settings, methods }),
        );
      },
    },
  };
}

type PodCall = PluginCall & { readonly operands: readonly string[]; readonly settings: ClusterSettings };

/** Does something with the pod that the operands name. */
async function withPod(call: PodCall, shared: Shared, work: (pod: PodSession) => Promise<number>): Promise<number> {
  const name = podNameIn(call.operands);
  return await untilStopped(call, shared, async (around) => await work(await openPod(name, call.settings, around)));
}

/**
 * Resolves with what `work` resolves with, or with 128+n if stop signal n ends it. Rejects with Failure(69) if the API
 * server fails.
 */
async function untilStopped(
  { env, signals }: PluginCall,
  { createLog }: Shared,
  work: (around: Around) => Promise<number>,
): Promise<number> {
  const stop = new AbortController();
  let stoppedBy = 0;
  onStop(signals, (signal) => {
    stoppedBy ||= signal;
    stop.abort();
  });
  const log = createLog({ logLevel: "info", logFormat: "text", quiet: false }, { env: {} });
  try {
    const code = await work({ env, log, signal: stop.signal });
    return stoppedBy === 0 ? code : 128 + stoppedBy;
  } catch (error) {
    if (stoppedBy !== 0) return 128 + stoppedBy;
    if (!(error instanceof ApiError)) throw error;
    throw new Failure(EXIT.unavailable, `kubectl ebb: ${error.message}${remedyFor(error)}`, { cause: error });
  }
}

/** Says what to do after a failure of the API server; `; ` stands before it. */
function remedyFor(error: ApiError): string {
  if (error.status === undefined) return "; check the server's address: kubectl cluster-info";
  if (error.status === 401) return "; renew the kubeconfig's credentials";
  if (error.status === 403) return "; ask an administrator to allow it";
  return isTransient(error) || isConflict(error) ? "; run it again" : "";
}

/** Drains the sidecars of another pod, which are reached through a tunnel; `args` are flags of `ebb drain`. */
async function drainThrough(
  sidecars: readonly Sidecar[],
  args: readonly string[],
  { signal, shared }: Around & { readonly shared: Shared },
): Promise<number> {
  const { values } = shared.readOperandCall(farDrainOptions, { args, env: {} });
  const { drain: drainMs, minDrain: minMs, maxInFlight } = values;
  const log = shared.createLog(values, { env: {} });
  log.info({ atMostMs: drainMs }, "draining");
  const options = { totalMs: drainMs, boundMs: drainMs, minMs, maxInFlight, wereReady: false, log, signal };
  return (await shared.drainAll(sidecars, options)) ? EXIT.ok : EXIT.unavailable;
}
