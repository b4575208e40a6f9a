import { printable } from "../core/text.ts";
import { native } from "./native.ts";

const last: (() => void)[] = [];

/** Registers a function that `exit` calls, after those before it. */
export function atExit(call: () => void): void {
  last.push(call);
}

/**
 * Calls the functions of `atExit` and ends the process at once. A function that throws is reported on stderr, and stops
 * neither the others nor the exit. Never returns.
 */
export function exit(code: number): never {
  // ebb's own writes are not buffered, so there is nothing to flush; Bun's own way to exit takes a millisecond
  // (measured)
  for (const call of last) {
    try {
      call();
    } catch (error) {
      native.write(2, printable(`ebb: error: a bug in ebb, at its end: ${(error as Error).stack}\n`), 0);
    }
  }
  native.exit(code);
}
