import { readdirSync, readFileSync } from "node:fs";

/** What a process holds. */
export interface Usage {
  /** KiB of memory of its own. */
  readonly rssAnon: number;
  readonly descriptors: number;
}

/** @throws where it has ended */
export function usageOf(pid: number): Usage {
  const [, kib = ""] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "latin1")) ?? [];
  return { rssAnon: Number(kib), descriptors: readdirSync(`/proc/${pid}/fd`).length };
}

/** The least of some: what a collector has not cleared yet is no leak. */
export function least(usages: readonly Usage[]): Usage {
  return {
    rssAnon: Math.min(...usages.map(({ rssAnon }) => rssAnon)),
    descriptors: Math.max(...usages.map(({ descriptors }) => descriptors)),
  };
}

/** What may come on top between an early and a late look: the engine's own, which does not grow on. */
const MOST_GROWTH_KIB = 4 * 1024;
const MOST_DESCRIPTORS = 100;

/** Undefined where it is flat; else what is wrong. */
export function growth(early: Usage, late: Usage): string | undefined {
  if (late.rssAnon - early.rssAnon > MOST_GROWTH_KIB)
    return `RssAnon grew from ${early.rssAnon} to ${late.rssAnon} KiB`;
  if (late.descriptors > MOST_DESCRIPTORS) return `${late.descriptors} descriptors are open`;
  return undefined;
}
