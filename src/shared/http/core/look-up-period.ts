/**
 * Returns the milliseconds to the next look-up of a target's name, by the milliseconds waited so far: 250 in the first
 * 5 s, 1000 in the first minute, 5000 after. By `random`, from 0 to 1, it is a fifth less or more: pods that start
 * together do not stay together. In a pod with four search domains a look-up is ten questions to the cluster's DNS.
 */
export function lookUpPeriodMs(waitedMs: number, random: number): number {
  const periodMs = waitedMs < 5000 ? 250 : waitedMs < 60_000 ? 1000 : 5000;
  return periodMs * (0.8 + 0.4 * random);
}
