import type { Environment } from "../core/environment.ts";
import { atExit } from "../native/exit.ts";
import { native } from "../native/native.ts";
import { showLive } from "./output.ts";

const PERIOD_MS = 200;

/** The delay (`afterMs` of `keepLive`) for what is often over at once, and then needs no line. */
export const A_SECOND = 1000;

/**
 * Shows a line on stderr, at the bottom of the terminal, and updates it every 200 ms (`PERIOD_MS`) until the returned
 * function is called or ebb exits. Shows nothing if stderr is no terminal. `lineNow` gets the milliseconds since the
 * call of `keepLive`; the line first shows after `afterMs`.
 */
export function keepLive(lineNow: (passedMs: number) => string, afterMs = 0): () => void {
  if (!isTerminal(2)) return () => undefined;
  const start = performance.now();
  const show = () => {
    const passedMs = performance.now() - start;
    if (passedMs >= afterMs) showLive(lineNow(passedMs));
  };
  const timer = setInterval(show, PERIOD_MS);
  show();
  const end = () => {
    clearInterval(timer);
    showLive("");
  };
  atExit(end);
  return end;
}

/**
 * Reports whether to write colours to stderr, or to stdout: it is a terminal, TERM is not `dumb`, and NO_COLOR
 * (https://no-color.org) is not set.
 */
export function hasColours({ NO_COLOR, TERM }: Environment, descriptor: 1 | 2 = 2): boolean {
  return isTerminal(descriptor) && (NO_COLOR ?? "") === "" && TERM !== "dumb";
}

/** Reports whether a descriptor is a terminal. */
export function isTerminal(descriptor: number): boolean {
  return native.isTerminal(descriptor) === 1;
}
