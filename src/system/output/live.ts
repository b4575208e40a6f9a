import type { Environment } from "../../core/base/environment.ts";
import { atExit } from "../native/exit.ts";
import { native } from "../native/native.ts";
import { showLive } from "./output.ts";

const PERIOD_MS = 200;

/** For what is often over at once: it needs no line then. */
export const A_SECOND = 1000;

/**
 * Shows a line at the bottom of the terminal and updates it, until the returned function is called. Does nothing where stderr is
 * no terminal. `lineNow` gets the milliseconds since the call; `afterMs`: when it first shows.
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

/** Whether stderr takes colours (https://no-color.org). */
export function hasColours({ NO_COLOR, TERM }: Environment): boolean {
  return isTerminal(2) && (NO_COLOR ?? "") === "" && TERM !== "dumb";
}

/** Whether a descriptor is a terminal. */
export function isTerminal(descriptor: number): boolean {
  return native.isTerminal(descriptor) === 1;
}
