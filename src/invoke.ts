import type { Command, Invocation } from "./command.ts";
import type { CallContext } from "./shared/cli/core/call.ts";
import { EXIT, Failure } from "./shared/core/exit.ts";
import { jsonLog } from "./shared/output/log.ts";
import { writeError } from "./shared/output/output.ts";
import { recordFailure } from "./shared/output/termination-log.ts";
import { exitOnStop } from "./shared/process/stop.ts";

/** Runs a command. Resolves to its exit code. A stop signal ends ebb, unless the command subscribes to signals itself. */
export async function invoke(command: Command, invocation: Invocation): Promise<number> {
  const exitCode = command.main(invocation);
  exitOnStop(invocation.signals);
  return await exitCode;
}

/**
 * Writes why a command failed to its termination log, if it has one. Returns the exit code if the reason is logged; else
 * throws the error.
 */
export function fail(error: unknown, command: Command, context: CallContext): number {
  if (!("terminationLog" in command.options)) throw error;
  recordFailure(error instanceof Error ? error.message : String(error), command.options, context);
  if (error instanceof Failure && logFailure(error)) return error.exitCode;
  throw error;
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
