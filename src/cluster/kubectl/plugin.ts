import { type CallContext, readOperandCall } from "../../shared/cli/core/call.ts";
import type { Look } from "../../shared/cli/core/help.ts";
import { expandShortFlags, kubectlShort } from "../../shared/cli/core/short-flags.ts";
import { nearest } from "../../shared/cli/core/suggestion.ts";
import { EXIT, Failure } from "../../shared/core/exit.ts";
import { createLog } from "../../shared/output/log.ts";
import type { Signals } from "../../shared/process/signals.ts";
import { onStop } from "../../shared/process/stop.ts";
import { ApiError, isConflict, isTransient } from "../api/api-error.ts";
import { usableMethods } from "../reaper/core/policy.ts";
import { reaperOptions } from "../reaper/core/reaper-options.ts";
import { completionOf } from "./core/completion.ts";
import { type ClusterSettings, clusterOptionsOf, podNameIn, podOptions } from "./core/options.ts";
import { doctorHelp, listPluginCommands, type PluginHelp, podCommands, reapHelp } from "./core/pod-commands.ts";
import { completeNames } from "./names.ts";
import { openPod, openSession, type PluginDeps, type PodSession } from "./session.ts";
import { listPods, showPod } from "./status.ts";
import { explainPod } from "./why.ts";

/** A call of one of the plugin's commands: an Invocation (command.ts). */
interface PluginCall extends CallContext {
  readonly argvIndex: number | undefined;
  readonly signals: Signals;
}

/** A command of the plugin, or of ebb. */
interface PluginCommand extends PluginHelp {
  main(call: PluginCall): Promise<number>;
}

/** kubectl's plugin. */
interface Plugin {
  /** Returns the text of --help. */
  help(look: Look): string;
  /** Returns the command of this name. @throws Failure(64) if there is none */
  command(name: string): PluginCommand;
  /** Resolves with what kubectl_complete-ebb prints. Never rejects: a shell has no place for the reason. */
  complete(words: readonly string[], env: CallContext["env"]): Promise<string>;
}

const NAMES_MS = 3000;

type Commands = Readonly<Record<string, PluginCommand>>;

/** Creates kubectl's plugin. `name` is what users type for it, `ebbs` are ebb's commands by name. */
export function createPlugin(name: string, ebbs: Commands): Plugin {
  const commands = { ...commandsOfPods, ...commandsOfCluster(ebbs) };
  return {
    help: (look) => listPluginCommands(name, commands, look),
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
      const completion = completionOf(words, commands);
      if (completion.kind === "lines") return completion.text;
      try {
        return await completeNames(completion, { ...quietly(env), signal: AbortSignal.timeout(NAMES_MS) });
      } catch {
        return ":4\n";
      }
    },
  };
}

function quietly(env: CallContext["env"]): PluginDeps {
  const log = createLog({ logLevel: "error", logFormat: "text", quiet: true }, {});
  return { env, log, signal: new AbortController().signal };
}

/**
 * Returns `reap` and `doctor`, ebb's own commands with kubectl's flags, in one namespace without -A; and those that ask
 * no cluster, as they are.
 */
function commandsOfCluster(ebbs: Commands) {
  const { reaper, doctor, inject, timeline } = ebbs as Commands &
    Record<"reaper" | "doctor" | "inject" | "timeline", PluginCommand>;
  const scoped = (command: PluginCommand, fixed: readonly string[]): PluginCommand => ({
    ...command,
    options: clusterOptionsOf(command.options as typeof reaperOptions),
    main: async (call) => await command.main({ ...call, args: [...fixed, ...(await scopedArgs(command, call))] }),
  });
  return {
    reap: scoped({ ...reaper, ...reapHelp, options: optionsOfReap(reaper.options) }, ["--once"]),
    inject,
    doctor: scoped({ ...doctor, ...doctorHelp }, []),
    timeline,
  };
}

/** Leaves out what only replicas that watch use. */
function optionsOfReap(all: PluginCommand["options"]): PluginCommand["options"] {
  const { once: _, healthListen: __, ...options } = all;
  return options;
}

async function scopedArgs({ options }: PluginCommand, call: PluginCall): Promise<readonly string[]> {
  const args = expandShortFlags(call.args, kubectlShort);
  const { namespace: where, allNamespaces, kubeconfig, context } = reaperOptions;
  const all = { ...options, namespace: where, allNamespaces, kubeconfig, context };
  const { values, origins } = readOperandCall(all, { args, env: call.env });
  if (values.allNamespaces || origins.namespace === "--namespace") return args;
  const { namespace } = await openSession({ ...values, namespace: undefined }, quietly(call.env));
  return ["--namespace", namespace, ...args];
}

const commandsOfPods: Readonly<Record<keyof typeof podOptions, PluginCommand>> = {
  status: {
    ...podCommands.status,
    async main(call) {
      const { values: settings, operands } = read("status", call);
      if (operands.length === 0)
        return await untilStopped(call, async (one) => listPods({ settings, ...(await openSession(settings, one)) }));
      if (settings.allNamespaces || settings.selector !== undefined)
        throw new Failure(EXIT.usage, "POD: expected none with --all-namespaces or --selector");
      return await withPod({ ...call, operands, settings }, (pod) => showPod({ ...pod, settings }));
    },
  },
  why: {
    ...podCommands.why,
    async main(call) {
      const { values: settings, origins, operands } = read("why", call);
      const methods = usableMethods(settings, origins.methods !== "default");
      return await withPod({ ...call, operands, settings }, (pod) => explainPod({ ...pod, settings, methods }));
    },
  },
};

/** Reads a call of a command; words after `--` are operands too. @throws Failure(64) if it is not valid */
function read<K extends keyof typeof podOptions>(name: K, { args, env }: PluginCall) {
  const call = readOperandCall(podOptions[name], { args: expandShortFlags(args, kubectlShort), env });
  return { ...call, operands: [...call.operands, ...call.command] };
}

type PodCall = PluginCall & { readonly operands: readonly string[]; readonly settings: ClusterSettings };

/** Does something with the pod that the operands name. */
async function withPod(call: PodCall, work: (pod: PodSession) => Promise<number>): Promise<number> {
  const name = podNameIn(call.operands);
  return await untilStopped(call, async (deps) => await work(await openPod(name, call.settings, deps)));
}

/**
 * Resolves with what `work` resolves with, or with 128+n if stop signal n ends it. Rejects with Failure(69) if the API
 * server fails.
 */
async function untilStopped(
  { env, signals }: PluginCall,
  work: (deps: PluginDeps) => Promise<number>,
): Promise<number> {
  const stop = new AbortController();
  let stoppedBy = 0;
  onStop(signals, (signal) => {
    stoppedBy ||= signal;
    stop.abort();
  });
  const log = createLog({ logLevel: "info", logFormat: "text", quiet: false }, {});
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
