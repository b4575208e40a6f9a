import "./starting-environment.ts";
import { reaperOptions } from "../cluster/reaper/core/reaper-options.ts";
import { commands } from "../commands.ts";
import { dispatch } from "../dispatch.ts";
import { report } from "../invoke.ts";
import { HelpAsked, parseArguments } from "../shared/cli/core/arguments.ts";
import { readOperandCall } from "../shared/cli/core/call.ts";
import { deskCommands } from "../shared/cli/core/names.ts";
import { type NamedCommand, type Resolution, resolveCommand } from "../shared/cli/core/resolve.ts";
import { expandShortFlags, kubectlShort } from "../shared/cli/core/short-flags.ts";
import { EXIT, Failure } from "../shared/core/exit.ts";
import { baseName } from "../shared/core/text.ts";
import { exit } from "../shared/native/exit.ts";
import { catchSignals } from "../shared/process/signals.ts";

// The start of a desk build, for systems on which no pod runs: src/main.ts without the commands of pods.

const onUncaught = (error: unknown): never => exit(report(error));
process.on("uncaughtException", onUncaught);
process.on("unhandledRejection", onUncaught);

const here = Object.fromEntries(Object.entries(commands).filter(([name]) => deskCommands.includes(name)));
const signals = catchSignals();
perform(resolveCommand(process.argv.slice(2), baseName(process.argv0), [...deskCommands, "help"])).then(
  exit,
  onUncaught,
);

async function perform(call: Resolution): Promise<number> {
  if (call.kind === "tool") refuse(call.name);
  if (call.kind === "command" && isServer(call)) refuse("ebb reaper without --once");
  if (call.kind !== "command" || deskCommands.includes(call.name)) return await dispatch(call, signals, here);
  const isShort = whichHelp(call);
  if (isShort === undefined) refuse(`ebb ${call.name}`);
  return await dispatch({ kind: "help", name: call.name, isShort }, signals);
}

function isServer({ name, args }: NamedCommand): boolean {
  if (name !== "reaper") return false;
  try {
    const given = { args: expandShortFlags(args, kubectlShort), env: process.env };
    return !readOperandCall(reaperOptions, given).values.once;
  } catch {
    return false; // the command says what is wrong with it, or prints its help
  }
}

/** Returns whether a call asks for the short help; undefined if it asks for none. */
function whichHelp({ name, args }: NamedCommand): boolean | undefined {
  try {
    parseArguments(args, commands[name]?.options ?? {});
    return undefined;
  } catch (error) {
    if (error instanceof HelpAsked) return error.isShort;
    throw error;
  }
}

/** @throws Failure(64) that says where a command or another tool's name works */
function refuse(call: string): never {
  throw new Failure(
    EXIT.usage,
    `${call} works in Linux containers: call it in a pod, or in a container of ebb's image`,
  );
}
