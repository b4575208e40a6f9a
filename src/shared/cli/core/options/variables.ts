import type { OptionVariable } from "../option.ts";
import { boolean, duration } from "../syntax.ts";

export const url = "a URL such as http://localhost:15000/path";

/**
 * Declares another tool's switch that sets an option to `value` where it is true. A word that is neither true nor false is
 * refused.
 */
export function whenTrue(name: string, value: string): OptionVariable {
  return { name, read: (given) => (isTrue(given) ? [value] : []) };
}

/** Returns the value of `--quit` that adds a request to the sidecar's own: `+URL`. */
export function oneMore(quit: string): string {
  return `+${quit}`;
}

/** Declares another tool's duration that sets an option to `value`, or to itself. Zero counts as not set. */
export function unlessZero(name: string, value?: string): OptionVariable {
  return { name, read: (given) => (duration.parse(given) === 0 ? [] : [value ?? given]) };
}

/** Reads a boolean of a variable. @throws Error "expected true or false" */
export function isTrue(given: string): boolean {
  const value = boolean.parse(given);
  if (value === undefined) throw new Error("expected true or false");
  return value;
}
