import type { Environment } from "../../core/base/environment.ts";
import { oneLine } from "../../core/base/text.ts";
import { atExit } from "../native/exit.ts";
import { isTerminal } from "./live.ts";
import { writeControl, writeStreamed } from "./output.ts";

// ECMA-48 and xterm's: cursor up, erase to the end of the line and of the screen; cursor and wrapping off and on.
const up = (lines: number) => (lines === 0 ? "" : `\x1b[${lines}A`);
const ERASE_LINE = "\x1b[K";
const ERASE_BELOW = "\x1b[J";
const HIDE = "\x1b[?25l\x1b[?7l";
const SHOW = "\x1b[?7h\x1b[?25h";

/** Draws lines over those that it has drawn before. Resolves with false if nobody sees them any more. */
export type Draw = (lines: readonly string[]) => Promise<boolean>;

/**
 * Returns a function that draws lines at the bottom of the terminal (stdout), each time over those before. It leaves
 * out the last lines if there are more than the terminal has. Returns undefined if stdout is no terminal or TERM is
 * `dumb`. Hides the cursor until ebb exits.
 */
export function openScreen(env: Environment): Draw | undefined {
  if (!isTerminal(1) || env.TERM === "dumb") return undefined;
  let drawn = 0;
  writeControl(HIDE);
  atExit(() => writeControl(SHOW));
  return (lines) => {
    const shown = clip(lines, (process.stdout.rows || 24) - 1);
    const text = `${up(drawn)}\r${shown.map((line) => `${oneLine(line)}${ERASE_LINE}\r\n`).join("")}${ERASE_BELOW}`;
    drawn = shown.length;
    return writeStreamed(new TextEncoder().encode(text));
  };
}

function clip(lines: readonly string[], height: number): readonly string[] {
  if (lines.length <= height) return lines;
  const shown = lines.slice(0, Math.max(0, height - 1));
  return [...shown, `... ${lines.length - shown.length} more lines`];
}
