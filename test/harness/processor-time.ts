/**
 * Calls `run`, and returns the processor time, in ms, that this process used meanwhile. Other programs do not count.
 */
export function processorMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
