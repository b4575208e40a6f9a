import type { Variable } from "../option.ts";
import { boolean, duration } from "../syntax.ts";

export const url = "a URL such as http://localhost:15000/path";

/** Another tool's switch, which says `value` when it is true; a word that is neither true nor false is refused. */
export function whenTrue(name: string, value: string): Variable {
  return { name, read: (given) => (isTrue(given) ? [value] : []) };
}

export function oneMore(quit: string): string {
  return `+${quit}`;
}

/** Another tool's time, which says `value` or itself; zero says nothing, as if it were not set. */
export function unlessZero(name: string, value?: string): Variable {
  return { name, read: (given) => (duration.parse(given) === 0 ? [] : [value ?? given]) };
}

export function isTrue(given: string): boolean {
  const value = boolean.parse(given);
  if (value === undefined) throw new Error("expected true or false");
  return value;
}
