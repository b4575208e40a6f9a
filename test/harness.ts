import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { cacheFolder } from "../build/setup/cache.mjs";
import { checkSums, moveIntoPlace, writeSums } from "../build/setup/sums.mjs";
import { takes } from "./time.ts";

const project = resolve(import.meta.dirname, "..");

/** The executable under test: the built one, unless EBB names another. */
export const ebbPath = resolve(process.env.EBB ?? join(project, "dist", "ebb"));

/** A folder that goes with the test: `using folder = temporaryFolder()`. */
export function temporaryFolder(): Disposable & { readonly path: string } {
  const path = mkdtempSync(join(tmpdir(), "ebb-test-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** test/fixtures/child.c: the application that runs under ebb. */
export function childPath(): string {
  return compiled(join(import.meta.dirname, "fixtures", "child.c"));
}

/** Those that this process has compiled or checked. */
const checked = new Set<string>();

/** The static executable of a C file, compiled once for each of its versions, and again where it is damaged. */
export function compiled(source: string): string {
  const digest = createHash("sha256").update(readFileSync(source)).digest("hex").slice(0, 16);
  const name = basename(source, ".c");
  const folder = join(cacheFolder(), "compiled", `${name}-${digest}`);
  const path = join(folder, name);
  if (checked.has(path)) return path;
  const wrong = existsSync(folder) ? checkSums(folder) : "";
  if (wrong !== undefined && wrong !== "") console.log(`${folder} is damaged: ${wrong}; it is compiled anew`);
  if (wrong !== undefined) compileInto(folder, source, name);
  checked.add(path);
  return path;
}

function compileInto(folder: string, source: string, name: string): void {
  mkdirSync(dirname(folder), { recursive: true });
  const temporary = mkdtempSync(`${folder}-`);
  try {
    const command = ["-O2", "-static", "-o", join(temporary, name), source];
    const { status, stderr } = spawnSync("gcc", command, { encoding: "utf8" });
    if (status !== 0) throw new Error(`gcc ${source}: ${stderr}`);
    writeSums(temporary);
    chmodSync(temporary, 0o755); // an app that runs as another user starts it
    moveIntoPlace(temporary, folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
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

export interface FakeSidecar extends AsyncDisposable {
  readonly port: number;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** `METHOD /path` of each request so far, but for GETs of /ready. */
  readonly requests: readonly string[];
  /** How often /ready was asked. */
  readonly probes: () => number;
  isReady: boolean;
}

export interface FakeSidecarOptions {
  readonly host?: string;
  readonly isReady?: boolean;
  /** Answers a quit in its own way; without it 200, and the server goes. */
  readonly onQuit?: (request: IncomingMessage, response: ServerResponse) => void;
}

/** An HTTP server with Envoy's admin paths /ready and /quitquitquit, for what a real Envoy cannot be made to do. */
export async function fakeSidecar(options: FakeSidecarOptions = {}): Promise<FakeSidecar> {
  const requests: string[] = [];
  let probes = 0;
  const server = createServer((request, response) => {
    if (request.url === "/ready") {
      probes += 1;
      response.writeHead(sidecar.isReady ? 200 : 503).end(sidecar.isReady ? "LIVE\n" : "PRE_INITIALIZING\n");
      return;
    }
    requests.push(`${request.method} ${request.url}`);
    if (options.onQuit !== undefined) return options.onQuit(request, response);
    response.end("OK\n");
    server.close();
    server.closeIdleConnections();
  });
  await new Promise<void>((listening) => server.listen(0, options.host ?? "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const sidecar: FakeSidecar = {
    port,
    url: `http://${options.host === "::1" ? "[::1]" : "127.0.0.1"}:${port}`,
    requests,
    probes: () => probes,
    isReady: options.isReady ?? true,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  return sidecar;
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

/** R, S, T (stopped), Z (zombie) ...; undefined: no such process. */
export function processState(pid: number): string | undefined {
  try {
    return /\) (\S)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1"))?.[1];
  } catch {
    return undefined;
  }
}

/** The processes that it has to reap, zombies among them. */
export function childrenOf(pid: number): readonly number[] {
  try {
    return readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean).map(Number);
  } catch {
    return []; // it is gone
  }
}

export function isEbb(pid: number): boolean {
  try {
    return readlinkSync(`/proc/${pid}/exe`) === ebbPath;
  } catch {
    return false; // it is gone, or not started yet
  }
}

/**
 * Whether an ebb holds or handles a signal: from then on, losing it is its fault. Start it through `env` or another plain
 * program: in the middle of an exec the kernel shows ebb's name beside the handlers of the program before.
 */
export function catches(pid: number, signal: number): boolean {
  const status = readFileSync(`/proc/${pid}/status`, "latin1");
  if (!status.startsWith(`Name:\t${basename(ebbPath).slice(0, 15)}`)) return false;
  const [, blocked, handled] = /^SigBlk:\t(\w+)\nSigIgn:.*\nSigCgt:\t(\w+)$/m.exec(status) ?? [];
  return (((BigInt(`0x${blocked}`) | BigInt(`0x${handled}`)) >> BigInt(signal - 1)) & 1n) === 1n;
}
