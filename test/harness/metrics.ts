/**
 * Returns the sum of a metric over its labels, of a text as /metrics has it; 0 if it is not there. The name is a regular
 * expression, which may go on with labels.
 */
export function sumOf(text: string, metric: string): number {
  const lines = text.matchAll(new RegExp(`^${metric}(?:\\{.*\\})? (\\S+)$`, "gm"));
  return [...lines].reduce((all, [, one]) => all + Number(one), 0);
}
