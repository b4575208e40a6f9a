import { toTenths } from "../base/duration.ts";
import type { FieldsOf } from "../messages/log-types.ts";
import type { ChildExit } from "./exit.ts";
import { signalName } from "./signal.ts";

export interface Life {
  /** When each phase began that did, in milliseconds on one clock. */
  readonly since: {
    readonly wait: number;
    readonly run?: number;
    readonly drain?: number;
    readonly drained?: number;
    readonly quit?: number;
  };
  readonly now: number;
  readonly exit: ChildExit | undefined;
  readonly exitCode: number;
}

/** Returns the fields of the log's last line: how long each phase took, in milliseconds to a tenth, and how it ended. */
export function summarize({ since, now, exit, exitCode }: Life): FieldsOf<"done"> {
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
