import { dlopen, type Pointer } from "bun:ffi";
import type { SignalNumber } from "../core/signal.ts";

/** src/native/*.c: what JavaScript cannot do. */
export interface Native {
  /** The argv that ebb was given, as bytes; null in development. */
  ebb_argv(): Pointer | null;
  /** Catches every signal that can be forwarded; each then raises SIGCHLD. */
  ebb_listen(): void;
  /** The next signal that was caught, 0 when there is none; its negative where ebb was started with it ignored. */
  ebb_next_signal(): SignalNumber;
  /**
   * Starts a program with what ebb was started with: its pid, or -errno. ebb gets its orphans. `place` (three ints) says how it
   * stands to the terminal; with `leads` it has a process group of its own even in a pipeline.
   */
  ebb_spawn(file: Pointer, argv: Pointer, leads: number, place: Pointer): number;
  /** Replaces this process; returns -errno when it cannot. */
  ebb_exec(file: Pointer, argv: Pointer): number;
}

/** What few starts need: each function costs them 10 µs (measured). */
export interface RareNative {
  /** Has the kernel send this signal to ebb when the thread that started ebb ends; at once where it has. */
  ebb_parent_death(signal: SignalNumber): void;
  /** Stops ebb's process group until the shell continues it; 0 where there is no shell that could. */
  ebb_stop(): number;
}

export const native: Native = open();

/** In the static executable its own functions; in development, where there are none, development.ts. */
function open(): Native {
  try {
    return dlopen("libc.so.6", {
      ebb_argv: { args: [], returns: "ptr" },
      ebb_exec: { args: ["ptr", "ptr"], returns: "i32" },
      ebb_listen: { args: [], returns: "void" },
      ebb_next_signal: { args: [], returns: "i32" },
      ebb_spawn: { args: ["ptr", "ptr", "i32", "ptr"], returns: "i32" },
    }).symbols as Native; // addresses are below 2^53: never a bigint
  } catch {
    return inDevelopment();
  }
}

let rare: RareNative | undefined;

export function rareNative(): RareNative {
  rare ??= openRare();
  return rare;
}

function openRare(): RareNative {
  try {
    return dlopen("libc.so.6", {
      ebb_parent_death: { args: ["i32"], returns: "void" },
      ebb_stop: { args: [], returns: "i32" },
    }).symbols;
  } catch {
    return inDevelopment();
  }
}

function inDevelopment(): Native & RareNative {
  const path = ["./development", "ts"].join("."); // no literal, which would bring it into the executable
  return (require(path) as typeof import("./development.ts")).development;
}
