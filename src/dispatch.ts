import type { Command, Invocation } from "./command.ts";
import { command as quit } from "./commands/quit.ts";
import { command as run } from "./commands/run.ts";
import { command as sleep } from "./commands/sleep.ts";
import { command as wait } from "./commands/wait.ts";
import type { CompatTool } from "./compat/tool.ts";
import { fail, invoke } from "./invoke.ts";
import { HelpAsked } from "./shared/cli/core/arguments.ts";
import { UnknownFlags } from "./shared/cli/core/call.ts";
import type { NamedCommand, Resolution, Tool } from "./shared/cli/core/resolve.ts";
import { describeFlagOwners } from "./shared/cli/core/suggestion.ts";
import { allOf, EXIT, Failure } from "./shared/core/exit.ts";
import { writeOutput } from "./shared/output/output.ts";
import type { Signals } from "./shared/process/signals.ts";

type Commands = Readonly<Record<string, Command>>;

/**
 * The commands with which pods start and stop. Nothing else is loaded with them, because each 100 KB costs every pod
 * 0.2 MB and 0.5 ms (measured).
 */
const podCommands: Commands = { run, wait, sleep, quit };

/**
 * Performs what a command line asks for. `listed`: the commands that help lists, and completion proposes, by default
 * all. Resolves to ebb's exit code. @throws Failure for an expected failure
 */
export async function dispatch(call: Resolution, signals: Signals, listed?: Commands): Promise<number> {
  const { env } = process;
  switch (call.kind) {
    case "command":
      return await perform(call, signals, listed);
    case "tool":
      return await dispatch(await translate(call), signals);
    case "unnamed": // its reason is also in the termination log, as that of `ebb run` is
      return fail(new Failure(EXIT.usage, call.reason), run, { args: [], env });
    case "help":
      return await (await import("./help.ts")).showHelp(call.name, { isShort: call.isShort === true, env }, listed);
    case "page":
      return await (await import("./help.ts")).showPage(call.topic, env);
    case "version":
      return await (await import("./about.ts")).showVersion(call.format);
    case "licenses":
      return await (await import("./about.ts")).showLicenses(signals);
    case "plugin":
      return await (await import("./kubectl.ts")).runPlugin(call, signals);
    case "completion": {
      const { complete } = await import("./shared/cli/core/completion.ts");
      await writeOutput(complete(call.words, listed ?? (await allCommands())));
      return EXIT.ok;
    }
  }
}

async function allCommands(): Promise<Commands> {
  return (await import("./commands.ts")).commands;
}

async function perform({ name, args, at, compat }: NamedCommand, signals: Signals, listed?: Commands): Promise<number> {
  const command = podCommands[name] ?? ((await allCommands())[name] as Command);
  const argvIndex = at === undefined ? undefined : 1 + at;
  const invocation: Invocation = { args, argvIndex, env: process.env, compat, signals };
  try {
    return await invoke(command, invocation);
  } catch (error) {
    if (error instanceof HelpAsked) return await dispatch({ kind: "help", name, isShort: error.isShort }, signals);
    return fail(
      error instanceof UnknownFlags ? withOwners(error, listed ?? (await allCommands())) : error,
      command,
      invocation,
    );
  }
}

/** Returns a failure that also names the commands that have the unknown flags. */
function withOwners({ exitCode, message, flags }: UnknownFlags, commands: Commands): Failure {
  return new Failure(exitCode, allOf([message, ...describeFlagOwners(flags, commands)]));
}

/** Translates a call in another tool's name to one of ebb's. */
async function translate({ name: tool, args: words, at }: Tool): Promise<Resolution> {
  const { compatTools } = await import("./compat/tools.ts");
  const call = (compatTools[tool] as CompatTool).translate(words, process.env);
  if (call.isHelp === true) return { kind: "help", name: tool };
  const { command: name, args, argsAt, compat } = call;
  return { kind: "command", name, args, at: argsAt === undefined ? undefined : at + argsAt, compat };
}
