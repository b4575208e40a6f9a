import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { deskCommands } from "../../src/shared/cli/core/names.ts";
import { unknownLines } from "../docs/unknown-lines.ts";
import { childPath } from "./compiled.ts";
import { takes } from "./time.ts";

const project = resolve(import.meta.dirname, "../..");

/** The executable under test: the built one, unless EBB names another. */
export const ebbPath = resolve(process.env.EBB ?? join(project, "dist", "ebb"));

/** Whether ebb lists this command of its own: a desk build (test/release/run.ts) lists those for a desk alone. */
export function isListed(command: string): boolean {
  return basename(ebbPath) !== "ebb-desk" || deskCommands.includes(command);
}

/**
 * Creates an empty folder below the system's, which is removed with the test's scope: `using folder =
 * temporaryFolder()`.
 */
export function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "ebb-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** One line of ebb's log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** How ebb ended, and what it wrote. */
export interface Ended {
  /** The exit code as a shell reports it: 128+n if signal n ended ebb itself. */
  readonly code: number;
  /** The signal that ended ebb itself; null if none did. */
  readonly signal: string | number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The JSON lines of stderr. */
  readonly log: readonly LogLine[];
}

export interface StartOptions {
  /** The path of a program to start in ebb's place. */
  readonly program?: string;
  /** The environment; PATH is this process's unless it is given. Nothing else is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** The working directory; by default that of the project. */
  readonly cwd?: string;
  /** A command that starts ebb: ebb's path and arguments are put behind it. `["unshare", "--pid", "--fork"]`. */
  readonly through?: readonly string[];
}

/** An ebb that was started. */
export interface Started extends AsyncDisposable {
  /** The pid of ebb or, with `through`, of that command. */
  readonly pid: number;
  kill(signal: NodeJS.Signals | number): void;
  /** Returns what it has written to stdout so far. */
  stdout(): string;
  /** Returns what it has written to stderr so far. */
  stderr(): string;
  /**
   * Resolves when it has ended and both streams are read to their end. Rejects if it wrote a log message, a field or a
   * failure that test/docs/log-messages.ts does not have, or has with another exit code.
   */
  readonly ended: Promise<Ended>;
}

/** Starts ebb, with nothing on stdin. `await using` it: if the test ends first, the process is killed (SIGKILL). */
export function startEbb(args: readonly string[], options: StartOptions = {}): Started {
  const env = { PATH: process.env.PATH ?? "", ...options.env };
  const { program = ebbPath, cwd = project, through = [] } = options;
  const ebb = Bun.spawn([...through, program, ...args], { env, cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const stdout = collect(ebb.stdout);
  const stderr = collect(ebb.stderr);
  const end = async (): Promise<Ended> => {
    const code = await ebb.exited;
    await Promise.all([stdout.done, stderr.done]);
    // another program between it and the test may have an exit code of its own
    const isDirect = program === ebbPath && through.length === 0;
    const exitCode = isDirect && ebb.signalCode === null ? code : undefined;
    // an argument with a line break breaks the line of a failure
    const unknown = args.join("").includes("\n") ? [] : unknownLines(stderr.text(), exitCode);
    if (unknown.length > 0) throw new Error(`not in test/docs/log-messages.ts: ${unknown.join("\n")}`);
    return { code, signal: ebb.signalCode, stdout: stdout.text(), stderr: stderr.text(), log: logOf(stderr.text()) };
  };
  const ended = end();
  return {
    pid: ebb.pid,
    kill: (signal) => ebb.kill(signal),
    stdout: stdout.text,
    stderr: stderr.text,
    ended,
    async [Symbol.asyncDispose]() {
      ebb.kill("SIGKILL");
      await ebb.exited;
    },
  };
}

/** Runs ebb to its end, whatever its exit code. */
export async function ebb(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
  await using started = startEbb(args, options);
  return await started.ended;
}

/** Reads a stream to its end. `text()` returns what has come so far; `done` resolves at the end. */
export function collect(stream: ReadableStream<Uint8Array>): {
  readonly done: Promise<void>;
  readonly text: () => string;
} {
  let text = "";
  const decoder = new TextDecoder();
  const read = async (): Promise<void> => {
    for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  };
  return { done: read(), text: () => text };
}

/** Returns the lines of a text that are JSON, parsed: those that begin with `{`. */
export function logOf(stderr: string): readonly LogLine[] {
  return stderr
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LogLine);
}

/** Reports whether a line of ebb's log tells the outcome of a quit, good or bad. */
export function isQuitLine({ msg }: LogLine): boolean {
  return quitMessages.includes(msg);
}

const quitMessages = [
  "asked the sidecar to exit",
  "could not shut down the sidecar",
  "the sidecar is gone, or was never here",
].map((text) => `ebb: ${text}`);

/** Returns the first line of ebb's log about the outcome of a quit. @throws Error with ebb's stderr if there is none */
export function quitLineOf({ log, stderr }: Ended): LogLine {
  const line = log.find(isQuitLine);
  if (line === undefined) throw new Error(`no quit in: ${stderr}`);
  return line;
}

/** Reports whether a line of ebb's log tells the outcome of a drain, good or bad. */
export function isDrainLine({ msg }: LogLine): boolean {
  return msg === "ebb: drain ended" || msg === "ebb: could not drain the sidecar";
}

/**
 * Returns the first line of ebb's log about the outcome of a drain. @throws Error with ebb's stderr if there is none
 */
export function drainLineOf({ log, stderr }: Ended): LogLine {
  const line = log.find(isDrainLine);
  if (line === undefined) throw new Error(`no drain in: ${stderr}`);
  return line;
}

/**
 * Returns the first line of ebb's log whose message is `ebb: ` and `msg`. @throws Error with ebb's stderr if there is
 * none
 */
export function lineOf({ log, stderr }: Ended, msg: string): LogLine {
  const line = log.find((each) => each.msg === `ebb: ${msg}`);
  if (line === undefined) throw new Error(`no "${msg}" in: ${stderr}`);
  return line;
}

/** Returns a log line's time, in milliseconds since 1970. */
export function timeOf({ time }: LogLine): number {
  return Date.parse(time as string);
}

/**
 * Calls `ask` every `everyMs` until it returns a value that is neither undefined, null, false nor NaN, and resolves
 * with that value. Rejects with an error that names `what` after `withinMs`, or if `ask` throws.
 */
export async function until<T>(
  what: string,
  ask: () => T | undefined | null | false | Promise<T | undefined | null | false>,
  withinMs = 30_000,
  everyMs = 2,
): Promise<T> {
  const end = performance.now() + withinMs;
  for (;;) {
    const value = await ask();
    if (value !== undefined && value !== null && value !== false && !Number.isNaN(value)) return value;
    if (performance.now() > end) throw new Error(`not within ${withinMs} ms: ${what}`);
    await takes(everyMs);
  }
}

/** Returns the arguments with which ebb runs test/fixtures/child.c, given `words`, in a pod without a sidecar. */
export function runChild(words: readonly string[], flags: readonly string[] = []): readonly string[] {
  return ["run", "--sidecar", "none", "--quiet", ...flags, "--", childPath(), ...words];
}

/**
 * Calls `run` for each item, `width` at a time, and resolves with the results in the items' order. Rejects if a call
 * does.
 */
export async function inParallel<T, R>(items: readonly T[], run: (item: T) => Promise<R>, width = 4): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await run(items[at] as T);
  };
  await Promise.all(Array.from({ length: width }, work));
  return results;
}

/** Reports whether `unshare` works here with these flags: `canUnshare("--pid", "--fork")`. */
export function canUnshare(...flags: readonly string[]): boolean {
  return spawnSync("unshare", [...flags, "true"]).status === 0;
}
