/** Parses a timestamp of Kubernetes (RFC 3339) to milliseconds since the epoch. Returns undefined for anything else. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value !== "string" || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value))
    return undefined;
  // biome-ignore lint/style/noRestrictedGlobals: to read a time needs no clock
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Formats milliseconds since the epoch as RFC 3339, in UTC, with milliseconds. */
export function timeText(ms: number): string {
  // biome-ignore lint/style/noRestrictedGlobals: to write a time needs no clock
  return new Date(ms).toISOString();
}
