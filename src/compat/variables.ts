import { duration, syntax } from "../shared/cli/core/syntax.ts";
import { parseHttpTarget, withoutSlashes } from "../shared/core/address.ts";
import type { Environment } from "../shared/core/environment.ts";
import { redactUrl } from "../shared/core/redact.ts";
import { splitBy } from "../shared/core/text.ts";
import type { SettingsBuilder } from "./tool.ts";

/** The syntax of the tools' boolean values. They take no other word. */
export const trueOrFalse = syntax((text) => (text === "true" || text === "false" ? text : undefined), "true or false");

const url = syntax(parseHttpTarget, "a URL such as http://127.0.0.1:15000", redactUrl);
const time = { ...duration, expected: `${duration.expected} (0: none)` };

/**
 * Another tool's variables. A variable that is empty is not set; a bad value is refused by the builder's `check`, and
 * counts as not set.
 */
export class Variables {
  readonly #env: Environment;
  readonly #builder: SettingsBuilder;

  constructor(env: Environment, builder: SettingsBuilder) {
    this.#env = env;
    this.#builder = builder;
  }

  text(name: string): string | undefined {
    return this.#env[name] || undefined;
  }

  /** Reports whether a variable is `true`. It must be `true` or `false`, as the tools have it; not set means false. */
  isTrue(name: string): boolean {
    const text = this.text(name) ?? "false";
    return this.#builder.check({ origin: name, text }, trueOrFalse) && text === "true";
  }

  /** Returns a duration as it is written, without a sign; undefined if it is zero, which the tools take for no time. */
  time(name: string): string | undefined {
    const text = unsigned(this.text(name));
    if (text === undefined || !this.#builder.check({ origin: name, text }, time)) return undefined;
    return time.parse(text) === 0 ? undefined : text;
  }

  /** Returns a URL without slashes at its end. */
  base(name: string): string | undefined {
    const given = this.url(name);
    return given === undefined ? undefined : withoutSlashes(given);
  }

  /** Returns a URL as it is given. */
  url(name: string): string | undefined {
    const text = this.text(name);
    return text !== undefined && this.#builder.check({ origin: name, text }, url) ? text : undefined;
  }

  /** Returns URLs that are separated by commas. Leaves bad ones out. */
  urls(name: string): readonly string[] {
    const texts = splitBy(this.text(name) ?? "", ",");
    return texts.filter((text) => this.#builder.check({ origin: name, text }, url));
  }

  /** Returns those of the names that are set. */
  among(names: readonly string[]): readonly string[] {
    return names.filter((name) => this.text(name) !== undefined);
  }
}

/**
 * Removes the sign that Go's durations may have: `+1s`, `-0s`. A negative duration keeps its sign, which is then
 * refused.
 */
function unsigned(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  return text.startsWith("+") || /^-[0.]*[a-zµμ]*$/.test(text) ? text.slice(1) : text;
}
