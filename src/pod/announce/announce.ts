import { readIfThere } from "../../shared/io/file.ts";
import { errnoText } from "../../shared/native/errno.ts";
import { native } from "../../shared/native/native.ts";
import { isOwned, othersIn, type Stage, socketOf } from "./core/announcement.ts";

/**
 * Announces a stage of this `ebb run` to all that is in its network namespace, until ebb has ended. Returns why that
 * failed; undefined if it has not.
 */
export function announce(stage: Stage, program = ""): string | undefined {
  const container = native.container();
  const result = container < 0 ? container : native.announce(socketOf({ stage, container, pid: process.pid, program }));
  return result < 0 ? errnoText(-result) : undefined;
}

/**
 * Reports whether this ebb stands beside an `ebb run` that is its container's first process and owns the sidecars.
 * Where the PID namespace is the pod's or the node's, nothing tells: false.
 */
export function standsBesideOwner(): boolean {
  return process.pid !== 1 && readAnnouncements(isOwned) === true;
}

/** Reports whether an `ebb run` of another container runs its command. */
export function runsBeside(): boolean {
  return (readAnnouncements(othersIn)?.running.length ?? 0) > 0;
}

/**
 * Returns what `read` finds in this network namespace's table of Unix sockets, as seen from this container; undefined if
 * the kernel does not tell.
 */
export function readAnnouncements<T>(read: (table: string, container: number) => T): T | undefined {
  const table = readIfThere("/proc/net/unix");
  const container = native.container();
  return table === undefined || container < 0 ? undefined : read(table, container);
}
