import { readdirSync } from "node:fs";
import { memoryOf } from "../harness/processes.ts";

/** What a process holds. */
export interface Usage {
  /** Its anonymous memory (RssAnon), in KiB. */
  readonly rssAnon: number;
  /** The number of descriptors that it has open. */
  readonly descriptors: number;
}

/** Reads what a process holds. @throws Error if it has ended */
export function usageOf(pid: number): Usage {
  return { rssAnon: memoryOf(pid, "RssAnon") / 1024, descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/**
 * Returns the least memory of some samples, because garbage that is not collected yet is no leak, and the most
 * descriptors.
 */
export function least(usages: readonly Usage[]): Usage {
  return {
    rssAnon: Math.min(...usages.map(({ rssAnon }) => rssAnon)),
    descriptors: Math.max(...usages.map(({ descriptors }) => descriptors)),
  };
}

/** The growth, in KiB, that is no leak: memory of the engine, which does not grow on. */
const MOST_GROWTH_KIB = 4 * 1024;
const MOST_DESCRIPTORS = 100;

/**
 * Says what is wrong if usage has grown by more than 4 MiB or there are more than 100 descriptors; otherwise undefined.
 */
export function growth(early: Usage, late: Usage): string | undefined {
  if (late.rssAnon - early.rssAnon > MOST_GROWTH_KIB)
    return `RssAnon grew from ${early.rssAnon} to ${late.rssAnon} KiB`;
  if (late.descriptors > MOST_DESCRIPTORS) return `${late.descriptors} descriptors are open`;
  return undefined;
}
