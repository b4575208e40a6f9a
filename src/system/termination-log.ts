import { existsSync, writeFileSync } from "node:fs";
import { writeError } from "./output.ts";

const DEFAULT = "/dev/termination-log";

/** Writes why ebb failed, in one line, where the kubelet reads it (`kubectl describe pod` shows it). */
export function writeTerminationLog(path: string | undefined, reason: string): void {
  if (path === undefined && !existsSync(DEFAULT)) return;
  try {
    writeFileSync(path ?? DEFAULT, `ebb: ${reason.replaceAll("\n", "; ")}\n`);
  } catch (error) {
    writeError(`ebb: the termination log could not be written: ${(error as Error).message}\n`);
  }
}
