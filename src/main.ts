import type { Command, Invocation } from "./command.ts";
import { commands } from "./commands.ts";
import { EXIT, Failure } from "./core/exit.ts";
import { describeCommand, overview } from "./core/help.ts";
import { isStop } from "./core/signal.ts";
import { exit } from "./system/exit.ts";
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
  const named = Object.hasOwn(commands, first) ? commandNamed(first) : undefined;
  const rest = named === undefined ? args : args.slice(1);
  if (named !== undefined && (rest[0] === "--help" || rest[0] === "-h")) return showHelp(first);
  const argvIndex = 1 + args.length - rest.length;
  return start(named ?? commandNamed("run"), { args: rest, argvIndex, env: process.env, signals });
}

async function start(command: Command, invocation: Invocation): Promise<number> {
  try {
    const exitCode = command.main(invocation);
    signals.subscribeLast((signal) => {
      if (isStop(signal)) exit(128 + signal);
    });
    return await exitCode;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if ("terminationLog" in command.options) explain(reason, command.options, invocation);
    return report(error);
  }
}

function showHelp(name: string | undefined): number {
  if (name === undefined) writeOutput(overview(commands));
  else writeOutput(describeCommand(name, commandNamed(name)));
  return EXIT.ok;
}

function commandNamed(name: string): Command {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new Failure(EXIT.usage, `${name}: no such command; ebb --help lists them`);
  return command;
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
