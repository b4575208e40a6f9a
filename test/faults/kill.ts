import { dlopen } from "bun:ffi";

const { kill } = dlopen("libc.so.6", { kill: { args: ["i32", "i32"], returns: "i32" } }).symbols;

/** Sends a signal by kill(2), which also takes signals without a name. Returns whether it was sent. */
export function killBy(pid: number, signal: number): boolean {
  return kill(pid, signal) === 0;
}
