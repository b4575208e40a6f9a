import type { Command, Invocation } from "./command.ts";
import { commands } from "./commands.ts";
import { HelpAsked } from "./core/arguments.ts";
import { UnknownFlags } from "./core/call.ts";
import { EXIT, Failure } from "./core/exit.ts";
import { describeCommand, type Manual, overview } from "./core/help.ts";
import { ownersOf } from "./core/owners.ts";
import { isStop } from "./core/signal.ts";
import { nearest } from "./core/suggestion.ts";
import { exit } from "./system/exit.ts";
import { isProgram } from "./system/file.ts";
import { writeError, writeOutput } from "./system/output.ts";
import { listen } from "./system/signals.ts";
import { explain } from "./system/termination-log.ts";

process.on("uncaughtException", (error) => exit(report(error)));
process.on("unhandledRejection", (error) => exit(report(error)));

// First of all: a signal that nobody listens to is lost for PID 1, and ends anybody else.
const signals = listen();

// Not awaited: a module that awaits costs each start 0.3 ms (measured).
main(process.argv.slice(2)).then(exit, (error: unknown) => exit(report(error)));

async function main(args: readonly string[]): Promise<number> {
  const [first = "--help"] = args;
  if (first === "--help" || first === "-h" || first === "help") return showHelp(args[1]);
  if (first === "--version" || first === "-V") return showVersion();
  const isNamed = Object.hasOwn(commands, first);
  const rest = isNamed ? args.slice(1) : args;
  const argvIndex = 1 + args.length - rest.length;
  return start(isNamed ? first : undefined, { args: rest, argvIndex, env: process.env, signals, commands });
}

async function start(named: string | undefined, invocation: Invocation): Promise<number> {
  const name = named ?? "run";
  const command = commandNamed(name);
  try {
    if (named === undefined) refuseMisspelled(invocation.args[0] as string);
    const exitCode = command.main(invocation);
    signals.subscribeLast((signal) => {
      if (isStop(signal)) exit(128 + signal);
    });
    return await exitCode;
  } catch (error) {
    if (error instanceof HelpAsked) return showHelp(name);
    const reason = error instanceof Error ? error.message : String(error);
    if ("terminationLog" in command.options) explain(reason, command.options, invocation);
    if (error instanceof UnknownFlags) throw withOwners(error);
    throw error;
  }
}

/** A command's name with a slip in it, where no program has that name, is no command line to run: nothing would be found. */
function refuseMisspelled(word: string): void {
  if (word.startsWith("-") || word.includes("/")) return;
  const near = nearest(word, [...Object.keys(commands), "help"]);
  if (near === undefined || isProgram(word, process.env.PATH)) return;
  const instead = `(to run a program of that name: ebb -- ${word})`;
  throw new Failure(EXIT.usage, `${word}: no such command; did you mean "ebb ${near}"? ${instead}`);
}

function withOwners({ exitCode, message, flags }: UnknownFlags): Failure {
  return new Failure(exitCode, [message, ...ownersOf(flags, commands)].join("\n"));
}

async function showHelp(name: string | undefined): Promise<number> {
  const width = process.stdout.columns || 80;
  if (name === undefined || name.startsWith("-")) {
    writeOutput(overview(commands, width));
    return EXIT.ok;
  }
  const command = commandNamed(name);
  const { manuals } = await import("./manuals.ts");
  writeOutput(describeCommand(command, manuals[name] as Manual, width));
  return EXIT.ok;
}

function commandNamed(name: string): Command {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command !== undefined) return command;
  const near = nearest(name, Object.keys(commands));
  const hint = near === undefined ? "" : `did you mean ebb ${near}? `;
  throw new Failure(EXIT.usage, `${name}: no such command; ${hint}ebb --help lists them`);
}

async function showVersion(): Promise<number> {
  const { version } = await import("../package.json");
  writeOutput(`ebb ${version}\n`);
  return EXIT.ok;
}

function report(error: unknown): number {
  if (error instanceof Failure) {
    writeError(`${error.message.replaceAll(/^/gm, "ebb: ")}\n`);
    return error.exitCode;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  writeError(`ebb: this is a bug in ebb, please report it: ${detail}\n`);
  return EXIT.bug;
}
