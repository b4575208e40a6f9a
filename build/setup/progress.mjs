// Shows at a terminal that a step goes on. Plain JavaScript, because the bootstrap imports it with Node.js alone.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const { env, stdout } = process;
const isTerminal = stdout.isTTY === true && env.TERM !== "dumb";
const isColored = isTerminal && !env.NO_COLOR;
const frames = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏";
const PERIOD_MS = 100;
/** The columns left free at the end of the line, for the cursor and for what is typed. */
const ROOM = 3;
/** Matches the time that a step of the build took, at the end of its line. */
const TOOK = /\s+[\d.]+ s$/;
const ERASE = "\r\x1b[K";

/** Whether standard output is a terminal that can show progress. */
export const canShow = isTerminal;

/**
 * Runs a command, and shows `what` with the command's newest line while it runs; lines that begin with `keeps` stay.
 * Then it prints what `done` makes of all other lines, nothing if that is undefined. If the command fails it prints
 * these lines to standard error. Resolves with status, signal and error, as `spawnSync` returns them. Never rejects.
 */
export function runShown(what, command, options, { done, keeps }) {
  const start = performance.now();
  const others = [];
  let newest = "";
  const hear = (line) => {
    newest = line.trim().replace(TOOK, " done") || newest;
    if (keeps !== undefined && line.startsWith(keeps)) keep(line);
    else others.push(line);
  };
  const end = ({ status }) => {
    const output = others.join("\n");
    if (status === 0) sayDone(done(output), start);
    else if (output !== "") process.stderr.write(`${output}\n`);
  };
  return runDrawn(command, options, { text: () => (newest === "" ? what : `${what}: ${newest}`), hear, end });
}

/**
 * Runs `bun test`, and shows while it runs how many tests have passed and failed. What it prints of a test that fails
 * stays, and its summary. Resolves as `runShown` does. Never rejects.
 */
export function runTests(command, options) {
  const counts = { "(pass) ": 0, "(fail) ": 0 };
  let lines = [];
  const keepLines = () => {
    lines.forEach(keep);
    lines = [];
  };
  const hear = (line) => {
    const verdict = line.slice(0, "(pass) ".length);
    if (Object.hasOwn(counts, verdict)) counts[verdict] += 1;
    if (verdict === "(pass) " || line.endsWith(".test.ts:")) lines = [];
    else lines.push(line);
    if (verdict === "(fail) ") keepLines();
  };
  const text = () => `testing: ${counts["(pass) "]} passed, ${counts["(fail) "]} failed`;
  return runDrawn(command, options, { text, hear, end: keepLines });
}

/** Runs a command, and draws `text()` while it runs. `hear` gets its lines, `end` what it resolves with. */
function runDrawn([program, ...words], options, { text, hear, end }) {
  const start = performance.now();
  const child = spawn(program, words, { ...options, stdio: ["inherit", "pipe", "pipe"] });
  const timer = setInterval(() => draw(text(), start), PERIOD_MS);
  for (const stream of [child.stdout, child.stderr]) createInterface(stream).on("line", hear);
  const wait = () => undefined; // Ctrl-C reaches the command too, whose end is waited for
  process.on("SIGINT", wait);
  return new Promise((resolve) => {
    const finish = (result) => {
      clearInterval(timer);
      process.off("SIGINT", wait);
      stdout.write(ERASE);
      end(result);
      resolve(result);
    };
    child.once("error", (error) => finish({ status: null, signal: null, error }));
    child.once("close", (status, signal) => finish({ status, signal, error: undefined }));
  });
}

/** Prints a line in place of the one that is drawn, which is drawn below it again. */
function keep(line) {
  stdout.write(`${ERASE}${line}\n`);
}

function draw(text, start) {
  const turn = Math.floor((performance.now() - start) / PERIOD_MS) % frames.length;
  const took = ` ${((performance.now() - start) / 1000).toFixed(0)} s`;
  const room = (stdout.columns || 80) - took.length - ROOM - 2;
  const shown = text.length > room ? `${text.slice(0, room - 1)}…` : text;
  stdout.write(`\r${paint("36", frames[turn])} ${shown}${paint("2", took)}\x1b[K`);
}

function sayDone(text, start) {
  if (text === undefined) return;
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  stdout.write(`${paint("32", "✓")} ${text} ${paint("2", `(${seconds} s)`)}\n`);
}

function paint(style, text) {
  return isColored ? `\x1b[${style}m${text}\x1b[m` : text;
}
