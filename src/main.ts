import type { Command } from "./command.ts";
import { command as quit } from "./commands/quit.ts";
import { command as run } from "./commands/run.ts";
import { command as sleep } from "./commands/sleep.ts";
import { command as wait } from "./commands/wait.ts";
import { commandNames, toolNames } from "./core/cli/names.ts";
import type { Said } from "./core/cli/option.ts";
import { nearest } from "./core/cli/suggestion.ts";
import { invoke, isAboutCall, report } from "./invoke.ts";
import type { Personality } from "./personalities/personality.ts";
import { isProgram } from "./system/file.ts";
import { exit } from "./system/process/exit.ts";
import { native } from "./system/process/native.ts";
import { listen } from "./system/process/signals.ts";
import { isSurvived } from "./system/process/unexpected.ts";

/**
 * What pods start with and stop by. All of it is one chunk of the executable, because each further one costs a start 0.1 ms,
 * and there is nothing else in it, because each 100 KB cost every pod 0.2 MB and 0.5 ms (measured). All else is everything.ts.
 */
const starters: Readonly<Record<string, Command>> = { run, wait, sleep, quit };

const aboutEbb: readonly (string | undefined)[] = ["-h", "--help", "-V", "--version", "--licenses"];

process.on("uncaughtException", onUncaught);
process.on("unhandledRejection", onUncaught);

// First of all: a signal that nobody listens to is lost for PID 1, and ends anybody else.
const signals = listen();

// Not awaited: a module that awaits costs each start 0.3 ms (measured).
main(process.argv.slice(2)).then(exit, (error: unknown) => exit(report(error)));

function onUncaught(error: unknown): void {
  if (!isSurvived(error)) exit(report(error));
}

async function main(args: readonly string[]): Promise<number> {
  const file = process.argv0.slice(process.argv0.lastIndexOf("/") + 1);
  if (toolNames.includes(file)) return await runPersonality(file, args, 1);
  if (toolNames.includes(args[0] as string)) return await runPersonality(args[0] as string, args.slice(1), 2);
  const name = starterOf(args);
  if (name === undefined) return await callAny(args);
  const rest = name === args[0] ? args.slice(1) : args;
  const invocation = { args: rest, argvIndex: 1 + args.length - rest.length, env: process.env, signals };
  try {
    return await invoke(starters[name] as Command, invocation);
  } catch (error) {
    if (isAboutCall(error)) return await callAny(args);
    throw error;
  }
}

/** The starter that is called; without a command's name it is `run`. Undefined: for everything.ts to tell. */
function starterOf([first, ...rest]: readonly string[]): string | undefined {
  if (first === undefined || isAboutEbb(first)) return undefined;
  if (Object.hasOwn(starters, first)) return first;
  if (first.startsWith("-") || first.includes("/")) return "run";
  if (nearest(first, commandNames) !== undefined) return undefined;
  return rest.length > 0 || isEntrypoint() || isProgram(first, process.env.PATH) ? "run" : undefined;
}

/** Of a container: there `run` tells the sidecars to quit, also where its program is not found. */
function isEntrypoint(): boolean {
  return process.pid === 1 || process.env.KUBERNETES_SERVICE_HOST !== undefined;
}

function isAboutEbb(word: string | undefined): boolean {
  return aboutEbb.includes(word);
}

/** In another tool's name: its call in ebb's words. */
async function runPersonality(tool: string, words: readonly string[], wordsAt: number): Promise<number> {
  if (words.length === 1 && isAboutEbb(words[0])) return await callAny([words[0] as string, tool]);
  const { personalities } = await import("./personalities/personalities.ts");
  const call = (personalities[tool] as Personality).translate(words, process.env);
  const { command: name, args, argsAt, said } = call;
  if (call.isHelp === true) return await callAny(["--help", tool]);
  const command = starters[name];
  if (command === undefined) return await callAny([name, ...args], said);
  const argvIndex = argsAt === undefined ? undefined : wordsAt + argsAt;
  return await invoke(command, { args, argvIndex, env: process.env, said, signals });
}

async function callAny(args: readonly string[], said?: Said): Promise<number> {
  if (args[0] === "--licenses") return await (await import("./licenses.ts")).main(signals);
  native.settle();
  const everything = await import("./everything.ts");
  return await everything.main(args, signals, said);
}
