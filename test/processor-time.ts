/** The milliseconds of processor time that this process takes for it: other programs on a busy machine do not count. */
export function processorMs(run: () => unknown): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
