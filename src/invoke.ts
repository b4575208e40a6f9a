import type { Command, Invocation } from "./command.ts";
import { HelpAsked } from "./core/cli/arguments.ts";
import { UnknownFlags } from "./core/cli/call.ts";
import { EXIT, isFailure } from "./core/run/exit.ts";
import { writeError } from "./system/output/output.ts";
import { explain } from "./system/output/termination-log.ts";
import { exitOnStop } from "./system/process/stop.ts";

/** Runs a command to its exit code. A stop signal that it does not read itself ends ebb. Why it failed is in the termination log, too. */
export async function invoke(command: Command, invocation: Invocation): Promise<number> {
  try {
    const exitCode = command.main(invocation);
    exitOnStop(invocation.signals);
    return await exitCode;
  } catch (error) {
    if (!isAboutCall(error)) explainFailure(error, command, invocation);
    throw error;
  }
}

/** Converts a position in the call's words into an index of the argv that ebb was given. */
export function argvIndexAt(at: number | undefined): number | undefined {
  return at === undefined ? undefined : 1 + at;
}

/** Help was asked for, or a flag is not the command's: what answers that knows all commands (dispatch.ts). */
export function isAboutCall(error: unknown): error is HelpAsked | UnknownFlags {
  return error instanceof HelpAsked || error instanceof UnknownFlags;
}

export function explainFailure(error: unknown, { options }: Command, invocation: Invocation): void {
  const reason = error instanceof Error ? error.message : String(error);
  if ("terminationLog" in options) explain(reason, options, invocation);
}

/** Says on stderr why ebb failed; its exit code. */
export function report(error: unknown): number {
  if (isFailure(error)) {
    writeError(`${error.message.replaceAll(/^/gm, "ebb: ")}\n`);
    return error.exitCode;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  writeError(`ebb: this is a bug in ebb, please report it: ${detail}\n`);
  return EXIT.bug;
}
