import type { Command } from "./command.ts";
import { command as quit } from "./commands/quit.ts";
import { command as run } from "./commands/run.ts";
import { command as sleep } from "./commands/sleep.ts";
import { command as wait } from "./commands/wait.ts";
import type { CompatTool } from "./compat/tool.ts";
import { argvIndexAt, invoke, isAboutCall, report } from "./invoke.ts";
import { handleUncaught } from "./pod/bug.ts";
import { type Resolution, resolveCommand, type Tool } from "./shared/cli/core/resolve.ts";
import { baseName } from "./shared/core/text.ts";
import { exit } from "./shared/native/exit.ts";
import { catchSignals } from "./shared/process/signals.ts";

/**
 * The commands with which pods start and stop. Nothing else is loaded with them, because each 100 KB costs every pod
 * 0.2 MB and 0.5 ms (measured). All else is in dispatch.ts.
 */
const podCommands: Readonly<Record<string, Command>> = { run, wait, sleep, quit };

process.on("uncaughtException", onUncaught);
process.on("unhandledRejection", onUncaught);

// Before anything else: a signal without a handler is lost for PID 1, and ends any other process.
const signals = catchSignals();

// Not awaited: a module that awaits costs each start 0.3 ms (measured).
main(process.argv.slice(2)).then(exit, (error: unknown) => exit(report(error)));

function onUncaught(error: unknown): void {
  if (!handleUncaught(error)) exit(report(error));
}

function main(words: readonly string[]): Promise<number> {
  return perform(resolveCommand(words, baseName(process.argv0)));
}

async function perform(call: Resolution): Promise<number> {
  if (call.kind === "tool") return await runTool(call);
  if (call.kind !== "command") return await performAny(call);
  const { name, args, at, compat } = call;
  const command = podCommands[name];
  if (command === undefined) return await performAny(call);
  try {
    return await invoke(command, { args, argvIndex: argvIndexAt(at), env: process.env, compat, signals });
  } catch (error) {
    if (isAboutCall(error) && compat === undefined) return await performAny(call);
    throw error;
  }
}

/** Translates a call in another tool's name to one of ebb's, and performs that. */
async function runTool({ name: tool, args: words, at }: Tool): Promise<number> {
  const { compatTools } = await import("./compat/tools.ts");
  const call = (compatTools[tool] as CompatTool).translate(words, process.env);
  if (call.isHelp === true) return await performAny({ kind: "help", name: tool });
  const { command: name, args, argsAt, compat } = call;
  return await perform({ kind: "command", name, args, at: argsAt === undefined ? undefined : at + argsAt, compat });
}

async function performAny(call: Resolution): Promise<number> {
  const { dispatch } = await import("./dispatch.ts");
  return await dispatch(call, signals);
}
