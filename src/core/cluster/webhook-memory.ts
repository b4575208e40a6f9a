const MIB = 1024 * 1024;

/** What decides how much memory the webhook needs. */
export const memory = {
  /**
   * How many of the biggest requests fit into memory while they arrive. Only one of those that have arrived is handled
   * at a time.
   */
  biggestAtOnce: 4,
  /** The memory that a request takes while it is handled, as a multiple of its size. */
  timesItsSize: 10,
  /** The memory that the webhook takes with its 1,000 connections and no requests. */
  idleMiB: 80,
  /** The memory of look-ups: what is remembered of images and Secrets, and the answers that arrive. */
  lookUpsMiB: 48,
  /** How much more than is needed the limit is: for garbage that is not collected yet. */
  spare: 1.25,
  /** The limit is a multiple of this. */
  stepMiB: 32,
} as const;

/** Returns how many bytes of request bodies the webhook holds at a time: 4 of the biggest. */
export function requestRoomBytes(maxRequestBytes: number): number {
  return memory.biggestAtOnce * maxRequestBytes;
}

/**
 * Returns the memory limit of the webhook's container in MiB (`npm run bench -- webhook` measures what it needs).
 */
export function memoryLimitMiB(maxRequestBytes: number, asksRegistries: boolean): number {
  const { timesItsSize, idleMiB, lookUpsMiB, spare, stepMiB } = memory;
  const bytes = requestRoomBytes(maxRequestBytes) + timesItsSize * maxRequestBytes;
  const needed = idleMiB + bytes / MIB + (asksRegistries ? lookUpsMiB : 0);
  return Math.ceil((spare * needed) / stepMiB) * stepMiB;
}
