const MIB = 1024 * 1024;

/** As many of the biggest requests are held at once, while they arrive; of those that are there one is worked on at a time. */
const BIGGEST_AT_ONCE = 4;
/** What one costs while it is worked on, as a multiple of its size. */
const TIMES_ITS_SIZE = 10;
/** What the webhook takes without requests, and with its 1,000 connections. */
const IDLE_MIB = 80;

/** Returns how many bytes of requests the webhook holds at a time. */
export function requestRoomBytes(maxRequestBytes: number): number {
  return BIGGEST_AT_ONCE * maxRequestBytes;
}

/**
 * Returns the webhook's memory limit in MiB (`npm run bench -- webhook` measures it). A quarter of it is for garbage not yet
 * collected.
 */
export function memoryLimitMiB(maxRequestBytes: number): number {
  const bytes = requestRoomBytes(maxRequestBytes) + TIMES_ITS_SIZE * maxRequestBytes;
  return Math.ceil((1.25 * (IDLE_MIB + bytes / MIB)) / 32) * 32;
}
