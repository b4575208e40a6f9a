import { duration, oneOf, syntax } from "../shared/cli/core/syntax.ts";
import { parseHttpTarget, withoutSlashes } from "../shared/core/address.ts";
import type { Environment } from "../shared/core/environment.ts";
import { redactUrl } from "../shared/core/redact.ts";
import { splitBy } from "../shared/core/text.ts";
import type { SettingsBuilder } from "./tool.ts";

/** The syntax of the tools' boolean values. They take no other word. */
export const trueOrFalse = oneOf(["true", "false"]);

const url = syntax(parseHttpTarget, "a URL such as http://127.0.0.1:15000", redactUrl);
const time = { ...duration, expected: `${duration.expected} (0: none)` };

/**
 * A reader of a tool's variables. A variable that is empty is not set; a bad value is refused, and counts as not set.
 */
export interface Variables {
  text(name: string): string | undefined;
  /** Reports whether a variable is `true`. It must be `true` or `false`, as the tools have it; not set means false. */
  isTrue(name: string): boolean;
  /** Returns a duration as it is written, without a sign; undefined if it is zero, which the tools take for no time. */
  time(name: string): string | undefined;
  /** Returns a URL without slashes at its end. */
  base(name: string): string | undefined;
  /** Returns a URL as it is given. */
  url(name: string): string | undefined;
  /** Returns URLs that are separated by commas. Leaves bad ones out. */
  urls(name: string): readonly string[];
  /** Returns those of the names that are set. */
  among(names: readonly string[]): readonly string[];
}

/**
 * Removes the sign that Go's durations may have: `+1s`, `-0s`. A negative duration keeps its sign, which is then
 * refused.
 */
function unsigned(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  return text.startsWith("+") || /^-[0.]*[a-zµμ]*$/.test(text) ? text.slice(1) : text;
}

/**
 * Creates a reader of another tool's variables in `env`. It passes each value to the builder's `check`, which refuses
 * bad ones.
 */
export function readVariables(env: Environment, { check }: Pick<SettingsBuilder, "check">): Variables {
  const text = (name: string): string | undefined => env[name] || undefined;
  const urlsIn = (origin: string, values: readonly string[]): readonly string[] =>
    values.filter((value) => check({ origin, text: value }, url));
  const urlIn = (name: string): string | undefined => {
    const value = text(name);
    return value === undefined ? undefined : urlsIn(name, [value])[0];
  };
  return {
    text,
    isTrue(name) {
      const value = text(name) ?? "false";
      return check({ origin: name, text: value }, trueOrFalse) && value === "true";
    },
    time(name) {
      const value = unsigned(text(name));
      if (value === undefined || !check({ origin: name, text: value }, time)) return undefined;
      return time.parse(value) === 0 ? undefined : value;
    },
    base(name) {
      const url = urlIn(name);
      return url === undefined ? undefined : withoutSlashes(url);
    },
    url: urlIn,
    urls: (name) => urlsIn(name, splitBy(text(name) ?? "", ",")),
    among: (names) => names.filter((name) => text(name) !== undefined),
  };
}
