import { facts } from "./about/facts.ts";
import type { Command } from "./command.ts";
import { commands } from "./commands.ts";
import { HelpAsked } from "./core/cli/arguments.ts";
import { UnknownFlags } from "./core/cli/call.ts";
import { describeCommand, describeTool, type Manual, overview } from "./core/cli/help.ts";
import { commandNames, toolNames } from "./core/cli/names.ts";
import type { Said } from "./core/cli/option.ts";
import { ownersOf } from "./core/cli/owners.ts";
import { nearest } from "./core/cli/suggestion.ts";
import { EXIT, Failure } from "./core/run/exit.ts";
import { explainFailure, invoke, report } from "./invoke.ts";
import type { Personality } from "./personalities/personality.ts";
import { isProgram } from "./system/file.ts";
import { writeOutput } from "./system/output/output.ts";
import { exit } from "./system/process/exit.ts";
import type { Signals } from "./system/process/signals.ts";

// All of ebb: every command, help, and what knows them all. A bundle of its own (build/bundle/lazy-bundles.ts), which shares no module with
// main.ts: so it ends the process itself, with its own exit and its own Failure.

export async function main(args: readonly string[], signals: Signals, said?: Said): Promise<never> {
  try {
    return exit(await dispatch(args, signals, said));
  } catch (error) {
    return exit(report(error));
  }
}

async function dispatch(args: readonly string[], signals: Signals, said: Said | undefined): Promise<number> {
  const [first = "--help"] = args;
  if (first === "--help" || first === "-h" || first === "help") return showHelp(args[1]);
  if (first === "--version" || first === "-V") return showVersion(args[1]);
  const isNamed = Object.hasOwn(commands, first);
  const name = isNamed ? first : "run";
  const rest = isNamed ? args.slice(1) : args;
  const invocation = {
    args: rest,
    argvIndex: 1 + args.length - rest.length,
    env: process.env,
    said,
    signals,
    commands,
  };
  const command = commandNamed(name);
  const fail = (failure: Failure): never => {
    explainFailure(failure, command, invocation);
    throw failure;
  };
  const slip = isNamed ? undefined : slipIn(args);
  if (slip !== undefined) return fail(slip);
  try {
    return await invoke(command, invocation);
  } catch (error) {
    if (error instanceof HelpAsked) return showHelp(name);
    if (error instanceof UnknownFlags) return fail(withOwners(error));
    throw error;
  }
}

/**
 * A command's name with a slip in it, where no program has that name, is no command line to run: nothing would be found. Nor is
 * a word alone: main.ts runs it itself where something may be found, or has to be told to quit.
 */
function slipIn([word = "", ...rest]: readonly string[]): Failure | undefined {
  if (word.startsWith("-") || word.includes("/")) return undefined;
  const near = nearest(word, commandNames);
  if (isProgram(word, process.env.PATH) || (near === undefined && rest.length > 0)) return undefined;
  if (near === undefined) {
    const reason = "neither a command of ebb, which ebb --help lists, nor a program in PATH";
    return new Failure(EXIT.notFound, `${word}: ${reason}`);
  }
  const instead = `(to run a program of that name: ebb -- ${word})`;
  return new Failure(EXIT.usage, `${word}: no such command; did you mean "ebb ${near}"? ${instead}`);
}

function withOwners({ exitCode, message, flags }: UnknownFlags): Failure {
  return new Failure(exitCode, [message, ...ownersOf(flags, commands)].join("\n"));
}

async function showHelp(name: string | undefined): Promise<number> {
  const width = process.stdout.columns || 80;
  if (name !== undefined && toolNames.includes(name)) return await showToolHelp(name, width);
  if (name === undefined || name.startsWith("-")) {
    await writeOutput(overview(commands, width));
    return EXIT.ok;
  }
  const command = commandNamed(name);
  const { manuals } = await import("./manuals.ts");
  await writeOutput(describeCommand(command, manuals[name] as Manual, width));
  return EXIT.ok;
}

async function showToolHelp(name: string, width: number): Promise<number> {
  const { personalities } = await import("./personalities/personalities.ts");
  await writeOutput(describeTool(name, personalities[name] as Personality, width));
  return EXIT.ok;
}

function commandNamed(name: string): Command {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command !== undefined) return command;
  const near = nearest(name, Object.keys(commands));
  const hint = near === undefined ? "" : `did you mean ebb ${near}? `;
  throw new Failure(EXIT.usage, `${name}: no such command; ${hint}ebb --help lists them`);
}

/** In one line, or as JSON with what the executable was made of. */
async function showVersion(format: string | undefined): Promise<number> {
  if (format !== "--json" && format?.startsWith("-"))
    throw new Failure(EXIT.usage, `--version: expected --json or nothing, got "${format}"`);
  const { name, version } = await import("../package.json");
  await writeOutput(format === "--json" ? `${JSON.stringify({ name, version, ...facts })}\n` : `ebb ${version}\n`);
  return EXIT.ok;
}
