import { appendFileSync } from "node:fs";
import type { Usage } from "../../faults/usage.ts";
import { readRecords } from "../record.ts";

/** The least memory and descriptors that a service held in a minute: garbage and requests in flight are no leak. */
export interface Held extends Usage {
  /** The most resident memory since its start, in bytes (VmHWM). */
  readonly most: number;
  /** Its processor time since its start. */
  readonly cpuSeconds: number;
}

/** A minute of a soak, a line of the file. Counts are those since its start. */
export interface Minute {
  /** The first digits of the SHA-256 of the executable. */
  readonly ebb: string;
  /** When its soak began, as in ISO 8601. */
  readonly soak: string;
  readonly minute: number;
  /** Its end, in seconds since the start of the two. */
  readonly seconds: number;
  readonly webhook: Held;
  readonly reaper: Held;
  /** The pods that the webhook put ebb into, and the stuck Jobs that the reaper ended. */
  readonly injected: number;
  readonly ended: number;
  /** What went wrong, and how often. */
  readonly wrong: Readonly<Record<string, number>>;
  /** How often the API server was killed and started. */
  readonly restarts: number;
  /** How often the webhook served another certificate, and how often the Secret got another CA. */
  readonly certificates: number;
  readonly authorities: number;
  /** Seconds from the status that says that a Job's app has ended until the shutdown request, in this minute. */
  readonly medianWait: number;
  readonly longestWait: number;
}

/** Adds a minute to the file. */
export function addMinute(file: string, minute: Minute): void {
  appendFileSync(file, `${JSON.stringify(minute)}\n`);
}

/** Reads the soaks of an executable, in their order. */
export function readSoaks(file: string, ebb: string): readonly (readonly Minute[])[] {
  const own = readRecords<Minute>(file, ebb);
  return Object.values(Object.groupBy(own, ({ soak }) => soak)).map((minutes = []) => minutes);
}
