const MIB = 1024 * 1024;

/**
 * How many of the biggest requests fit into memory while they arrive. Only one of those that have arrived is handled at
 * a time.
 */
const BIGGEST_AT_ONCE = 4;
/** The memory that a request takes while it is handled, as a multiple of its size. */
const TIMES_ITS_SIZE = 10;
/** The memory that the webhook takes with its 1,000 connections and no requests. */
const IDLE_MIB = 80;
/** The memory of look-ups: what is remembered of images and Secrets, and the answers that arrive. */
const LOOKUPS_MIB = 48;

/** Returns how many bytes of request bodies the webhook holds at a time: 4 of the biggest (BIGGEST_AT_ONCE). */
export function requestRoomBytes(maxRequestBytes: number): number {
  return BIGGEST_AT_ONCE * maxRequestBytes;
}

/**
 * Returns the memory limit of the webhook's container in MiB, a multiple of 32 (`npm run bench -- webhook` measures
 * what it needs). A quarter more than is needed is for garbage that is not collected yet.
 */
export function memoryLimitMiB(maxRequestBytes: number, asksRegistries: boolean): number {
  const bytes = requestRoomBytes(maxRequestBytes) + TIMES_ITS_SIZE * maxRequestBytes;
  const needed = IDLE_MIB + bytes / MIB + (asksRegistries ? LOOKUPS_MIB : 0);
  return Math.ceil((1.25 * needed) / 32) * 32;
}
