import { parseHttpTarget } from "../core/address.ts";
import type { Environment } from "../core/option.ts";
import { duration, splitBy } from "../core/syntax.ts";
import { type Saying, unexpected } from "./saying.ts";

const URL = "a URL such as http://127.0.0.1:15000";

/** Reads a tool's variables. An empty one is not set; a bad value is refused. */
export interface Variables {
  text(name: string): string | undefined;
  /** `true` or `false` and nothing else, as the tools have it; false where it is not set. */
  isTrue(name: string): boolean;
  /** Undefined where it is zero, which the tools take for no time. */
  time(name: string): string | undefined;
  /** A URL, without a slash at its end. */
  url(name: string): string | undefined;
  /** URLs with commas between them. */
  urls(name: string): readonly string[];
  /** Those of the names that are set. */
  among(names: readonly string[]): readonly string[];
}

export function readVariables(env: Environment, { refuse }: Pick<Saying, "refuse">): Variables {
  const text = (name: string): string | undefined => env[name] || undefined;
  const urlsIn = (name: string, values: readonly string[]): readonly string[] => {
    const isUrl = (value: string): boolean => parseHttpTarget(value) !== undefined;
    for (const value of values) if (value !== "" && !isUrl(value)) refuse(unexpected(name, URL, value));
    return values.filter(isUrl);
  };
  return {
    text,
    isTrue(name) {
      const value = text(name) ?? "false";
      if (value !== "true" && value !== "false") refuse(unexpected(name, "true or false", value));
      return value === "true";
    },
    time(name) {
      const value = text(name);
      if (value === undefined) return undefined;
      const ms = duration.parse(value);
      if (ms === undefined) refuse(unexpected(name, `${duration.expected} (0: none)`, value));
      return ms ? value : undefined;
    },
    url: (name) => urlsIn(name, [text(name) ?? ""])[0]?.replace(/\/+$/, ""),
    urls: (name) => urlsIn(name, splitBy(text(name) ?? "", ",")),
    among: (names) => names.filter((name) => text(name) !== undefined),
  };
}
