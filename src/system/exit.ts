import { native } from "./native.ts";

const last: (() => void)[] = [];

/** Calls `call` when ebb ends by `exit`. */
export function atExit(call: () => void): void {
  last.push(call);
}

/** Ends the process at once: what ebb writes is written already, and Bun's own way out takes a millisecond (measured). */
export function exit(code: number): never {
  for (const call of last) call();
  native.exit(code);
}
