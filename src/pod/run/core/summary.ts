import { toTenths } from "../../../shared/core/duration.ts";
import type { ChildExit } from "../../../shared/core/exit.ts";
import { signalName } from "../../../shared/core/signal.ts";

/** The times and the end of a run. */
interface RunTimes {
  /** When each phase began, in milliseconds of one monotonic clock; a phase that did not begin is absent. */
  readonly since: {
    readonly wait: number;
    readonly run?: number;
    readonly drain?: number;
    readonly drained?: number;
    readonly quit?: number;
  };
  /** The time of the same clock. */
  readonly now: number;
  /** The child's end; undefined if there was no child. */
  readonly exit: ChildExit | undefined;
  /** ebb's own exit code. */
  readonly exitCode: number;
}

/**
 * Returns the fields of the log's last line: how long each phase took, in milliseconds to a tenth (undefined for a
 * phase that did not begin), the signal that ended the child, and the exit code.
 */
export function summarize({ since, now, exit, exitCode }: RunTimes): Readonly<Record<string, unknown>> {
  const leave = since.quit ?? now;
  const signal = exit !== undefined && "signal" in exit ? { signal: signalName(exit.signal) } : {};
  return {
    waitedMs: span(since.wait, since.run ?? leave),
    ranMs: span(since.run, leave),
    drainedMs: span(since.drain, since.drained ?? leave),
    quitMs: span(since.quit, now),
    ...signal,
    exitCode,
  };
}

function span(from: number | undefined, to: number): number | undefined {
  return from === undefined ? undefined : toTenths(to - from);
}
