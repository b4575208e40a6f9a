import { readdirSync, readFileSync } from "node:fs";
import { registriesVariable } from "./place.ts";

/** Whether the cluster is one that the rig has started: then all processes of its node are to be seen here. */
export const isOwnNode = process.env[registriesVariable] !== undefined;

/** Ends a daemon of the node by SIGKILL; the rig starts it again. @throws Error if none runs */
export function killDaemon(name: "kubelet" | "containerd"): void {
  process.kill(
    find(name, (pid) => textOf(pid, "comm") === `${name}\n`),
    "SIGKILL",
  );
}

/** Returns the PID of a container's process, by the container's ID in its status and the program's path. */
export function processOf(containerId: string, program: string): number {
  const group = containerId.slice(containerId.lastIndexOf("/") + 1);
  const isIt = (pid: number): boolean =>
    textOf(pid, "cmdline").startsWith(`${program}\0`) && textOf(pid, "cgroup").includes(group);
  return find(`${program} in ${containerId}`, isIt);
}

function find(what: string, isIt: (pid: number) => boolean): number {
  const pid = readdirSync("/proc").map(Number).filter(Boolean).find(isIt);
  if (pid === undefined) throw new Error(`no such process: ${what}`);
  return pid;
}

function textOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return ""; // it has ended meanwhile
  }
}
