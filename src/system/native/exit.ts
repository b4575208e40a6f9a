import { printable } from "../../core/base/text.ts";
import { native } from "./native.ts";

const last: (() => void)[] = [];

/** Registers a function that `exit` calls. */
export function atExit(call: () => void): void {
  last.push(call);
}

/**
 * Ends the process at once, after the calls of `atExit`; one that throws stops neither the others nor the exit. Output is written
 * already. Bun's own way takes a millisecond (measured).
 */
export function exit(code: number): never {
  for (const call of last) {
    try {
      call();
    } catch (error) {
      native.write(2, printable(`ebb: error: a bug in ebb, at its end: ${(error as Error).stack}\n`), 0);
    }
  }
  native.exit(code);
}
