import type { Owner } from "../core/proc-net.ts";
import { type Process, type ProcessTable, parseStat } from "../core/proc-pid.ts";
import { readIfThere } from "./file.ts";

export interface SeenProcesses extends ProcessTable {
  /** Who has which socket open, by the socket's inode. */
  readonly owners: ReadonlyMap<number, Owner>;
}

/** All processes that /proc shows, and their sockets as far as ebb may read them; undefined without /proc. */
export function readProcesses(): SeenProcesses | undefined {
  const pids = readFolder("/proc")?.filter((name) => /^\d+$/.test(name));
  if (pids === undefined || pids.length === 0) return undefined;
  const processes: Process[] = [];
  const owners = new Map<number, Owner>();
  let unreadable = 0;
  for (const pid of pids) {
    const seen = parseStat(readIfThere(`/proc/${pid}/stat`) ?? "");
    if (seen === undefined) continue; // it has ended meanwhile
    processes.push(seen);
    const inodes = seen.state === "zombie" ? [] : socketsOf(pid);
    if (inodes === undefined) unreadable += 1;
    for (const inode of inodes ?? []) owners.set(inode, { pid: seen.pid, name: seen.name });
  }
  return {
    processes,
    owners,
    unreadable,
    self: process.pid,
    ownCgroup: readIfThere("/proc/self/cgroup"),
    initCgroup: readIfThere("/proc/1/cgroup"),
    uptimeMs: uptimeMs(),
    commandOf: (pid) => (readIfThere(`/proc/${pid}/cmdline`) ?? "").split("\0").slice(0, -1),
  };
}

/** The inodes of the sockets that a process has open; undefined where ebb may not see them: another user's. */
function socketsOf(pid: string): readonly number[] | undefined {
  const { readlinkSync } = require("node:fs") as typeof import("node:fs");
  const inodes: number[] = [];
  for (const name of readFolder(`/proc/${pid}/fd`) ?? [""]) {
    try {
      const inode = /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${name}`))?.[1];
      if (inode !== undefined) inodes.push(Number(inode));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EACCES" || code === "EPERM") return undefined;
      // else it was closed meanwhile
    }
  }
  return inodes;
}

function readFolder(path: string): readonly string[] | undefined {
  const { readdirSync } = require("node:fs") as typeof import("node:fs"); // 0.9 ms that few need
  try {
    return readdirSync(path);
  } catch {
    return undefined; // not there, or not allowed: the caller says so
  }
}

/** proc_uptime(5): seconds since boot. */
function uptimeMs(): number | undefined {
  const seconds = Number(readIfThere("/proc/uptime")?.split(" ")[0]);
  return Number.isNaN(seconds) ? undefined : seconds * 1000;
}
