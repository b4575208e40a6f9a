import type { Command, Invocation } from "./command.ts";
import { HelpAsked } from "./shared/cli/core/arguments.ts";
import { UnknownFlags } from "./shared/cli/core/call.ts";
import { EXIT, Failure } from "./shared/core/exit.ts";
import { jsonLog } from "./shared/output/log.ts";
import { writeError } from "./shared/output/output.ts";
import { recordFailure } from "./shared/output/termination-log.ts";
import { exitOnStop } from "./shared/process/stop.ts";

/**
 * Runs a command. Resolves to its exit code. A stop signal ends ebb, unless the command subscribes to signals itself.
 * If the command fails, the reason is also written to the termination log (unless `isAboutCall`). The error is thrown
 * again, unless it was logged.
 */
export async function invoke(command: Command, invocation: Invocation): Promise<number> {
  try {
    const exitCode = command.main(invocation);
    exitOnStop(invocation.signals);
    return await exitCode;
  } catch (error) {
    if (isAboutCall(error) || !("terminationLog" in command.options)) throw error;
    recordFailure(error instanceof Error ? error.message : String(error), command.options, invocation);
    if (error instanceof Failure && logFailure(error)) return error.exitCode;
    throw error;
  }
}

/** Converts an index in the words after the executable's name to an index in ebb's argv. */
export function argvIndexAt(at: number | undefined): number | undefined {
  return at === undefined ? undefined : 1 + at;
}

/**
 * Reports whether an error asks for help or is about unknown flags. Only dispatch.ts, which knows all commands, answers
 * those.
 */
export function isAboutCall(error: unknown): error is HelpAsked | UnknownFlags {
  return error instanceof HelpAsked || error instanceof UnknownFlags;
}

/** Logs a failure, if the log has begun in JSON. Returns whether it has. A bad call is said in a sentence. */
function logFailure({ exitCode, message: reason }: Failure): boolean {
  const log = exitCode === EXIT.usage ? undefined : jsonLog();
  log?.error({ reason, exitCode }, "cannot go on");
  return log !== undefined;
}

/**
 * Prints to stderr why ebb failed: the message of a `Failure`, or else that it is a bug, with the stack. Returns the
 * exit code.
 */
export function report(error: unknown): number {
  if (error instanceof Failure) {
    writeError(`${error.message.replaceAll(/^/gm, "ebb: ")}\n`);
    return error.exitCode;
  }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
  writeError(`ebb: this is a bug in ebb, please report it: ${detail}\n`);
  return EXIT.bug;
}
