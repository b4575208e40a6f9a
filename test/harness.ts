import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { childPath } from "./compiled.ts";
import { takes } from "./time.ts";

const project = resolve(import.meta.dirname, "..");

/** The executable under test: the built one, unless EBB names another. */
export const ebbPath = resolve(process.env.EBB ?? join(project, "dist", "ebb"));

/** A folder that goes with the test: `using folder = temporaryFolder()`. */
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

export interface Ended {
  /** As a shell has it: 128+n when signal n ended ebb itself. */
  readonly code: number;
  /** The signal that ended ebb itself. */
  readonly signal: string | number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The JSON lines of stderr. */
  readonly log: readonly LogLine[];
}

export interface StartOptions {
  /** Another program, which is started in ebb's place. */
  readonly program?: string;
  /** Replaces the environment, but for PATH. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** What to run instead of ebb, with ebb's path and arguments after it: `unshare --pid --fork`. */
  readonly through?: readonly string[];
}

export interface Started extends AsyncDisposable {
  readonly pid: number;
  kill(signal: NodeJS.Signals | number): void;
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<Ended>;
}

/** Starts ebb. `await using` it: it is killed, with its process group, where the test ends first. */
export function startEbb(args: readonly string[], options: StartOptions = {}): Started {
  const env = { PATH: process.env.PATH ?? "", ...options.env };
  const { program = ebbPath, cwd = project, through = [] } = options;
  const ebb = Bun.spawn([...through, program, ...args], { env, cwd, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const stdout = collect(ebb.stdout);
  const stderr = collect(ebb.stderr);
  const end = async (): Promise<Ended> => {
    const code = await ebb.exited;
    await Promise.all([stdout.done, stderr.done]);
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

/** Runs ebb to its end. */
export async function ebb(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
  await using started = startEbb(args, options);
  return await started.ended;
}

/** A stream's text so far, while it is read to its end. */
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

/** The JSON lines among others. */
export function logOf(stderr: string): readonly LogLine[] {
  return stderr
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as LogLine);
}

/** Whether a line tells what came of a quit, well or not. */
export function isQuitLine({ msg }: LogLine): boolean {
  return msg === "ebb: quit" || msg === "ebb: could not quit the sidecar";
}

/** The first such line. @throws Error with what ebb said where there is none */
export function quitLineOf({ log, stderr }: Ended): LogLine {
  const line = log.find(isQuitLine);
  if (line === undefined) throw new Error(`no quit in: ${stderr}`);
  return line;
}

/** Whether a line tells what came of a drain, well or not. */
export function isDrainLine({ msg }: LogLine): boolean {
  return msg === "ebb: drain" || msg === "ebb: could not drain the sidecar";
}

/** The first such line. @throws Error with what ebb said where there is none */
export function drainLineOf({ log, stderr }: Ended): LogLine {
  const line = log.find(isDrainLine);
  if (line === undefined) throw new Error(`no drain in: ${stderr}`);
  return line;
}

/** The first line of ebb's log with this message. @throws Error with what ebb said where there is none */
export function lineOf({ log, stderr }: Ended, msg: string): LogLine {
  const line = log.find((each) => each.msg === `ebb: ${msg}`);
  if (line === undefined) throw new Error(`no "${msg}" in: ${stderr}`);
  return line;
}

/** When it was said, in milliseconds since 1970. */
export function timeOf({ time }: LogLine): number {
  return Date.parse(time as string);
}

/** Resolves with the first value that is neither undefined, null, false nor NaN. Looks each `everyMs`. @throws Error after `withinMs`, naming `what` */
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

/** Arguments of ebb that run test/fixtures/child.c with these words, in a pod without a sidecar. */
export function runChild(words: readonly string[], flags: readonly string[] = []): readonly string[] {
  return ["run", "--sidecar", "none", "--quiet", ...flags, "--", childPath(), ...words];
}

/** The results of `run` for each item, a few at a time. */
export async function inParallel<T, R>(items: readonly T[], run: (item: T) => Promise<R>, width = 4): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < items.length; at = next++) results[at] = await run(items[at] as T);
  };
  await Promise.all(Array.from({ length: width }, work));
  return results;
}

/** Whether this machine lets us make namespaces of these kinds: `canUnshare("--pid", "--fork")`. */
export function canUnshare(...flags: readonly string[]): boolean {
  return spawnSync("unshare", [...flags, "true"]).status === 0;
}
