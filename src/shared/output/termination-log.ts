import { parseArguments } from "../cli/core/arguments.ts";
import type { CallContext } from "../cli/core/call.ts";
import type { Options } from "../cli/core/option.ts";
import { options } from "../cli/core/options.ts";
import { resolve } from "../cli/core/values.ts";
import { describeSystemError } from "../core/system-error.ts";
import { oneLine } from "../core/text.ts";
import { jsonLog } from "./log.ts";
import { writeError } from "./output.ts";

const DEFAULT = "/dev/termination-log";

/**
 * Writes why ebb failed, in one line, into the file that the kubelet reads (`kubectl describe pod` shows it): `path`,
 * or /dev/termination-log if that exists. Never blocks or throws: it warns on stderr if it cannot write.
 */
export function writeTerminationLog(path: string | undefined, reason: string): void {
  const files = require("node:fs") as typeof import("node:fs"); // 0.9 ms, and few need it
  const { existsSync } = files;
  if (path === undefined && !existsSync(DEFAULT)) return;
  try {
    writeAtOnce(files, path ?? DEFAULT, `ebb: ${oneLine(reason.replaceAll("\n", "; "))}\n`);
  } catch (error) {
    const named = { path: path ?? DEFAULT, reason: reasonOf(error) };
    const log = jsonLog();
    if (log !== undefined) log.warn(named, "cannot write the termination log");
    else writeError(`ebb: cannot write the termination log ${named.path}: ${named.reason}\n`);
  }
}

function reasonOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code === "ENXIO" ? "the pipe has no reader" : describeSystemError(error);
}

/** Writes without blocking: a pipe without a reader must not delay the end. */
function writeAtOnce(
  { constants, openSync, writeSync, closeSync }: typeof import("node:fs"),
  path: string,
  line: string,
): void {
  const { O_WRONLY, O_CREAT, O_TRUNC, O_NONBLOCK, O_NOCTTY } = constants;
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_NOCTTY, 0o666);
  try {
    writeSync(descriptor, line);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes why a command failed to its termination log. Reads only that log's path from its flags and environment, so
 * that it works for a command whose other options are wrong.
 */
export function recordFailure(reason: string, all: Options, { args, env }: CallContext): void {
  const { flags } = parseArguments(args, all);
  const { path } = resolve({ path: options.terminationLog }, { flags, env }).values;
  writeTerminationLog(path, reason);
}
