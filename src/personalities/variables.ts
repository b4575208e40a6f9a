import { parseHttpTarget, withoutSlashes } from "../core/base/address.ts";
import type { Environment } from "../core/base/environment.ts";
import { redactUrl } from "../core/base/redact.ts";
import { duration, oneOf, splitBy, syntax } from "../core/cli/syntax.ts";
import type { SettingsBuilder } from "./settings-builder.ts";

/** The tools take no other word. */
export const trueOrFalse = oneOf(["true", "false"]);

const url = syntax(parseHttpTarget, "a URL such as http://127.0.0.1:15000", redactUrl);
const time = { ...duration, expected: `${duration.expected} (0: none)` };

/** Reads a tool's variables. An empty one is not set; a bad value is refused. */
export interface Variables {
  text(name: string): string | undefined;
  /** `true` or `false` and nothing else, as the tools have it; false where it is not set. */
  isTrue(name: string): boolean;
  /** Undefined where it is zero, which the tools take for no time. */
  time(name: string): string | undefined;
  /** A URL, without a slash at its end. */
  base(name: string): string | undefined;
  /** A URL as it is given. */
  url(name: string): string | undefined;
  /** URLs with commas between them. */
  urls(name: string): readonly string[];
  /** Those of the names that are set. */
  among(names: readonly string[]): readonly string[];
}

/** Go's durations may have a sign: `+1s`; `-0s` is none. */
function unsigned(text: string | undefined): string | undefined {
  return text?.replace(/^(\+|-(?=[0.]*[a-zµμ]*$))/, "");
}

/** Reads another tool's variables. A bad value is noted by `check`, and counts as not set. An empty one is not set. */
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
