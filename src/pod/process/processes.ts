import type { Environment } from "../../shared/core/environment.ts";
import { readIfThere } from "../../shared/io/file.ts";
import type { Owner } from "./core/net.ts";
import type { ProcessTable } from "./core/process.ts";
import { parseStat, type Stat, ZOMBIE } from "./core/process.ts";

/** The processes that /proc shows, and their sockets, for `ebb status`. */
interface SeenProcesses extends ProcessTable {
  /** Maps a socket's inode to the process that has the socket open; if several have, to the last of them in /proc. */
  readonly owners: ReadonlyMap<number, Owner>;
}

const SETTLE_MS = 50;

/**
 * Reads all processes in /proc, and their sockets as far as ebb may. If there are zombies, reads them again after 50 ms
 * (`SETTLE_MS`) and leaves out zombies that were not there before: those are about to be reaped. Resolves with
 * undefined without /proc.
 */
export async function readSettledProcesses(): Promise<SeenProcesses | undefined> {
  const first = readProcesses();
  const zombies = zombiesOf(first);
  if (zombies.size === 0) return first;
  await Bun.sleep(SETTLE_MS);
  const seen = readProcesses();
  const processes = seen?.processes.filter(({ pid, state }) => state !== ZOMBIE || zombies.has(pid)) ?? [];
  return seen === undefined ? undefined : { ...seen, processes };
}

function zombiesOf(seen: SeenProcesses | undefined): ReadonlySet<number> {
  return new Set(seen?.processes.filter(({ state }) => state === ZOMBIE).map(({ pid }) => pid));
}

/** Reads all processes in /proc, and their sockets as far as ebb may. Returns undefined without /proc. */
function readProcesses(): SeenProcesses | undefined {
  const pids = allPids();
  if (pids.length === 0) return undefined;
  const processes: Stat[] = [];
  const owners = new Map<number, Owner>();
  let unreadable = 0;
  for (const pid of pids) {
    const seen = readStat(pid);
    if (seen === undefined) continue; // it has ended meanwhile
    processes.push(seen);
    const inodes = seen.state === ZOMBIE ? [] : socketsOf(pid);
    if (inodes === undefined) unreadable += 1;
    for (const inode of inodes ?? []) owners.set(inode, { pid: seen.pid, name: seen.comm });
  }
  return {
    processes,
    owners,
    unreadable,
    self: process.pid,
    ownCgroup: readIfThere("/proc/self/cgroup"),
    initCgroup: readIfThere("/proc/1/cgroup"),
    uptimeMs: uptimeMs(),
    isInitOwn: isInitOwn(),
    commandOf: (pid) => readWords(`/proc/${pid}/cmdline`),
  };
}

/** Reads words that each end with a NUL. Returns an empty list if the file cannot be read. */
function readWords(path: string): readonly string[] {
  return (readIfThere(path) ?? "").split("\0").slice(0, -1);
}

/** How PID 1 was started. */
interface InitCall {
  readonly words: readonly string[];
  /** Undefined if ebb may not read it. */
  readonly env: Environment | undefined;
}

/** Reads how PID 1 was started, if that is an ebb, and not this one. Returns undefined otherwise. */
export function readInitCall(): InitCall | undefined {
  const commOf = (pid: number | "self") => readIfThere(`/proc/${pid}/comm`);
  if (process.pid === 1 || (isInitOwn() !== true && commOf(1) !== commOf("self"))) return undefined;
  const words = readWords("/proc/1/cmdline");
  const variables = readWords("/proc/1/environ").map((text) => /^([^=]+)=(.*)$/s.exec(text));
  const env = Object.fromEntries(variables.flatMap((match) => (match === null ? [] : [[match[1], match[2]]])));
  return words.length === 0 ? undefined : { words, env: variables.length === 0 ? undefined : env };
}

/**
 * Lists the inodes of a process's open sockets. Returns undefined if ebb may not see them because the process is
 * another user's.
 */
function socketsOf(pid: number): readonly number[] | undefined {
  const folder = `/proc/${pid}/fd`;
  const names = unlessGone(() => fs().readdirSync(folder), []);
  const links = names?.map((name) => unlessGone(() => fs().readlinkSync(`${folder}/${name}`), ""));
  if (links === undefined || links.includes(undefined)) return undefined;
  return links.flatMap((link) => /^socket:\[(\d+)\]$/.exec(link ?? "")?.[1] ?? []).map(Number);
}

/**
 * Returns what `look` returns, `gone` if the process or file is gone meanwhile, undefined if ebb may not look (EACCES,
 * EPERM).
 */
function unlessGone<T>(look: () => T, gone: T): T | undefined {
  try {
    return look();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "EACCES" || code === "EPERM" ? undefined : gone;
  }
}

/** Loaded here, because it costs 0.9 ms that few need. */
function fs(): typeof import("node:fs") {
  return require("node:fs");
}

/** Reports whether PID 1 runs ebb's executable. Returns undefined if that cannot be read. */
function isInitOwn(): boolean | undefined {
  const fileOf = (pid: number | "self") => unlessGone(() => fs().statSync(`/proc/${pid}/exe`), undefined);
  const [init, self] = [fileOf(1), fileOf("self")];
  return init === undefined || self === undefined ? undefined : init.ino === self.ino && init.dev === self.dev;
}

/** Reads the milliseconds since boot from proc_uptime(5). Returns undefined if that cannot be read. */
function uptimeMs(): number | undefined {
  const seconds = Number(readIfThere("/proc/uptime")?.split(" ")[0]);
  return Number.isNaN(seconds) ? undefined : seconds * 1000;
}

/** Returns the PIDs in /proc, in its order; empty if /proc is not mounted or cannot be read. */
export function allPids(): readonly number[] {
  const { readdirSync } = require("node:fs") as typeof import("node:fs"); // costs 0.9 ms that few need
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

/** Reads what /proc says of a process. Returns undefined if there is none, or ebb may not read it. */
export function readStat(pid: number): Stat | undefined {
  return parseStat(readIfThere(`/proc/${pid}/stat`) ?? "");
}
