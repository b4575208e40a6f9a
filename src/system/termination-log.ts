import { parseArguments } from "../core/arguments.ts";
import type { Given } from "../core/call.ts";
import { type Options, resolve } from "../core/option.ts";
import { options } from "../core/options.ts";
import { writeError } from "./output.ts";

const DEFAULT = "/dev/termination-log";

/** Writes why ebb failed, in one line, where the kubelet reads it (`kubectl describe pod` shows it). */
export function writeTerminationLog(path: string | undefined, reason: string): void {
  const { existsSync, writeFileSync } = require("node:fs") as typeof import("node:fs"); // 0.9 ms, and few need it
  if (path === undefined && !existsSync(DEFAULT)) return;
  try {
    writeFileSync(path ?? DEFAULT, `ebb: ${reason.replaceAll("\n", "; ")}\n`);
  } catch (error) {
    writeError(`ebb: the termination log could not be written: ${(error as Error).message}\n`);
  }
}

/** The same for a command that did not come to have settings: its flags are read for the path alone. */
export function explain(reason: string, all: Options, { args, env }: Given): void {
  const { flags } = parseArguments(args, all);
  const { path } = resolve({ path: options.terminationLog }, { flags, env }).values;
  writeTerminationLog(path, reason);
}
