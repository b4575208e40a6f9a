const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Parses a duration to milliseconds: Go's syntax (`500ms`, `1m30s`; also `d` for days, as linkerd-await has it) or a
 * bare number of seconds. Returns undefined for anything else, negative ones included, and for more than Go's 292
 * years.
 */
export function parseDuration(text: string): number | undefined {
  const ms = millisecondsOf(text);
  return ms !== undefined && ms <= LONGEST_MS ? ms : undefined;
}

/** 2^63 ns, Go's longest duration. */
const LONGEST_MS = 2 ** 63 / 1e6;

function millisecondsOf(text: string): number | undefined {
  if (/^(\d+(\.\d*)?|\.\d+)$/.test(text)) return Number(text) * 1000;
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h|d)/y; // outside, each start would compile it
  let total = 0;
  while (part.lastIndex < text.length) {
    const match = part.exec(text);
    if (match === null) return undefined;
    total += Number(match[1]) * (unitMs[match[2] as string] as number);
  }
  return text === "" ? undefined : total;
}

/** Rounds milliseconds to a tenth, because more digits are noise in a log. */
export function toTenths(ms: number): number {
  return Math.round(ms * 10) / 10;
}

/** Formats milliseconds for people: `350ms`, `2.1s`, `1m30s`, `2h5m`. `parseDuration` reads it, too. */
export function formatDuration(ms: number): string {
  if (Math.round(ms) < 1000) return `${Math.round(ms)}ms`;
  if (ms < 59_950) return `${Number((ms / 1000).toFixed(1))}s`;
  const seconds = Math.round(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = seconds % 60;
  return `${hours > 0 ? `${hours}h` : ""}${minutes > 0 ? `${minutes}m` : ""}${rest > 0 ? `${rest}s` : ""}`;
}

/** Formats milliseconds in whole seconds, rounded down, for a time that counts up: `0s`, `1m5s`. */
export function formatSeconds(ms: number): string {
  const whole = Math.floor(ms / 1000) * 1000;
  return whole === 0 ? "0s" : formatDuration(whole);
}
