import type { Command, Invocation } from "./command.ts";
import { commands } from "./commands.ts";
import { EXIT, Failure } from "./core/exit.ts";
import { isStop } from "./core/signal.ts";
import { exit } from "./system/exit.ts";
import { writeError, writeOutput } from "./system/output.ts";
import { listen } from "./system/signals.ts";

// First of all: a signal that nobody listens to is lost for PID 1, and ends anybody else.
const signals = listen();

exit(await main(process.argv.slice(2)).catch(report));

async function main(args: readonly string[]): Promise<number> {
  const [first = "--help"] = args;
  if (first === "--help" || first === "-h" || first === "help") return showHelp(args[1]);
  if (first === "--version" || first === "-V") return showVersion();
  const isNamed = Object.hasOwn(commands, first);
  const command = await load(isNamed ? first : "run");
  const rest = isNamed ? args.slice(1) : args;
  if (isNamed && (rest[0] === "--help" || rest[0] === "-h")) return showHelp(first);
  return start(command, { args: rest, argvIndex: 1 + args.length - rest.length, env: process.env, signals });
}

async function start(command: Command, invocation: Invocation): Promise<number> {
  try {
    const exitCode = command.main(invocation);
    signals.subscribeLast((signal) => {
      if (isStop(signal)) exit(128 + signal);
    });
    return await exitCode;
  } catch (error) {
    if (!("terminationLog" in command.options)) return report(error);
    const { explain } = await import("./system/termination-log.ts");
    explain(error instanceof Error ? error.message : String(error), command.options, invocation);
    return report(error);
  }
}

async function load(name: string): Promise<Command> {
  const entry = commands[name];
  if (entry === undefined) throw new Failure(EXIT.usage, `${name}: no such command; ebb --help lists them`);
  return (await entry.load()).command;
}

async function showHelp(name: string | undefined): Promise<number> {
  const { describeCommand, overview } = await import("./core/help.ts");
  if (name === undefined) writeOutput(overview(commands));
  else writeOutput(describeCommand(name, await load(name)));
  return EXIT.ok;
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
