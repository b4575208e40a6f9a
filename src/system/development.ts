import { dlopen, type Pointer, toArrayBuffer } from "bun:ffi";
import { isForwarded, SIG, type SignalNumber, signalName } from "../core/signal.ts";
import { cStrings, errno, libcOfTerminal, moreOfLibc, ptr, signalSet } from "./libc.ts";
import type { Native, RareNative } from "./native.ts";

const SETPGROUP = 2;
const SETSIGDEF = 4;
const SETSIGMASK = 8;
const SIG_BLOCK = 0;

const faults: readonly SignalNumber[] = [SIG.ILL, SIG.TRAP, SIG.ABRT, SIG.BUS, SIG.FPE, SIG.SEGV, SIG.SYS, SIG.PWR];

const host = dlopen("libc.so.6", {
  execvpe: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
  posix_spawnattr_init: { args: ["ptr"], returns: "i32" },
  posix_spawnattr_setflags: { args: ["ptr", "i16"], returns: "i32" },
  posix_spawnattr_setsigdefault: { args: ["ptr", "ptr"], returns: "i32" },
  posix_spawnp: { args: ["ptr", "ptr", "ptr", "ptr", "ptr", "ptr"], returns: "i32" },
}).symbols;

const caught: SignalNumber[] = [];

/**
 * What `bun src/main.ts` has instead of src/native/: the same, but for what Bun has changed before its first line (ignored
 * and blocked signals, descriptors), real-time signals and faults, orphans, the parent's death, and a terminal that the child has from its first instant.
 */
export const development: Native & RareNative = {
  ebb_argv: () => null,
  ebb_listen() {
    moreOfLibc().sigprocmask(SIG_BLOCK, ptr(signalSet(1n << BigInt(SIG.TTOU - 1))), null);
    for (const signal of Object.values(SIG).filter((each) => isForwarded(each) && !faults.includes(each))) {
      process.on(signalName(signal), () => {
        caught.push(signal);
        process.kill(process.pid, "SIGCHLD");
      });
    }
  },
  ebb_next_signal: () => caught.shift() ?? 0,
  ebb_spawn(file, argv, _, place) {
    const attributes = ptr(new Uint8Array(512)); // posix_spawnattr_t: 336 bytes in glibc
    host.posix_spawnattr_init(attributes);
    host.posix_spawnattr_setflags(attributes, SETPGROUP | SETSIGDEF | SETSIGMASK);
    host.posix_spawnattr_setsigdefault(attributes, ptr(signalSet(2n ** 64n - 1n)));
    const pid = new Int32Array(1);
    const error = host.posix_spawnp(ptr(pid), file, null, attributes, argv, environment());
    if (error === 0 && isForeground()) {
      libcOfTerminal().tcsetpgrp(0, pid[0] as number);
      new Int32Array(toArrayBuffer(place, 0, 12)).set([0, 1, 0]);
    }
    return error === 0 ? (pid[0] as number) : -error;
  },
  ebb_parent_death: () => undefined,
  ebb_stop() {
    process.kill(process.pid, "SIGSTOP");
    return 1;
  },
  ebb_exec(file, argv) {
    host.execvpe(file, argv, environment());
    return -errno();
  },
};

function isForeground(): boolean {
  const { tcgetpgrp, getpgid } = libcOfTerminal();
  return tcgetpgrp(0) === getpgid(0);
}

let kept: ReturnType<typeof cStrings>;

function environment(): Pointer {
  kept = cStrings(Object.entries(process.env).map(([name, value]) => `${name}=${value}`));
  return kept.address;
}
