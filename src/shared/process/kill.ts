import type { SignalNumber } from "../core/signal.ts";
import { ERRNO, errnoText } from "../native/errno.ts";
import { native } from "../native/native.ts";

/**
 * Sends a signal to a process, or to a process group if `pid` is its negative number. Returns why that failed;
 * undefined if it was sent or there is no such process.
 */
export function kill(pid: number, signal: SignalNumber): string | undefined {
  const result = native.kill(pid, signal);
  return result === 0 || result === -ERRNO.ESRCH ? undefined : errnoText(-result);
}
