import { atExit } from "../native/exit.ts";
import { native } from "../native/native.ts";
import { showLive } from "./output.ts";

const PERIOD_MS = 200;

/** Keeps a line at the terminal up to date until the result is called; where stderr is no terminal there is none. */
export function keepLive(lineNow: () => string): () => void {
  if (!isTerminal(2)) return () => undefined;
  const show = () => showLive(lineNow());
  const timer = setInterval(show, PERIOD_MS);
  show();
  const end = () => {
    clearInterval(timer);
    showLive("");
  };
  atExit(end);
  return end;
}

export function isTerminal(descriptor: number): boolean {
  return native.isTerminal(descriptor) === 1;
}
