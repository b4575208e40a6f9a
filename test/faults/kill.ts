import { dlopen } from "bun:ffi";

const { kill } = dlopen("libc.so.6", { kill: { args: ["i32", "i32"], returns: "i32" } }).symbols;

/** kill(2), also for the signals that have no name. Whether there was such a process. */
export function killBy(pid: number, signal: number): boolean {
  return kill(pid, signal) === 0;
}
