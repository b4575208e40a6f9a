import { printable } from "../../core/base/text.ts";
import { native } from "./native.ts";

const last: (() => void)[] = [];

/** Calls `call` when ebb ends by `exit`. */
export function atExit(call: () => void): void {
  last.push(call);
}

/**
 * Ends the process at once: what ebb writes is written already, and Bun's own way out takes a millisecond (measured). What goes wrong
 * on the way costs neither the code nor the others their call.
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
