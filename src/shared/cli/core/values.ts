import type { Environment } from "../../core/environment.ts";
import { allOf, EXIT, Failure } from "../../core/exit.ts";
import type { Warning } from "../../core/log-messages.ts";
import { isServiceLink } from "../../core/service-links.ts";
import { nothing, type Option, type Options, type OptionVariable, OWN, type Values } from "./option.ts";
import { type Syntax, unexpected } from "./syntax.ts";

/** Where a value came from, for people: `--flag`, a variable's name, or `default`. */
type Origin = string;

/** The options of a call, resolved. */
export interface Resolved<O extends Options> {
  readonly values: Values<O>;
  /** Where the value of each option came from. */
  readonly origins: { readonly [K in keyof O]: Origin };
  /**
   * The values of each option as they were written, or its default as text; empty if it has no value. May hold secrets.
   */
  readonly texts: { readonly [K in keyof O]: readonly string[] };
}

/** One value as it was written, and the flag or variable that gave it. */
export interface Found {
  readonly origin: Origin;
  readonly text: string;
}

/** The settings that the flags and variables of another tool mean, if ebb was started in its name. */
export interface CompatSettings {
  /** Values by the flag of ebb's option, without dashes. */
  readonly values: ReadonlyMap<string, readonly Found[]>;
  /** What is wrong with the tool's flags and variables. */
  readonly problems: readonly string[];
  /** Warnings to log about them. */
  readonly notes: readonly ToolWarning[];
  /** The only status by which a `ready` URL is ready; undefined for any 2xx. */
  readonly readyStatus?: number;
}

/** A warning for the log about another tool's settings. */
export interface ToolWarning {
  readonly message: Warning;
  readonly fields: Readonly<Record<string, string>>;
}

/** The sources of option values. */
interface Sources {
  /** Values by flag, without dashes. */
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly env: Environment;
  /** The settings of another tool in whose name ebb was started. Other tools' variables in `env` are then not read. */
  readonly compat?: CompatSettings | undefined;
  /** Problems found while the flags were read, which `resolve` reports with its own. */
  readonly problems?: readonly string[];
}

/**
 * Determines the value of each option: from its flag, otherwise from the environment, otherwise its default.
 * @throws Failure(64) that names every bad option, its value (redacted), and what was expected
 */
export function resolve<O extends Options>(options: O, sources: Sources): Resolved<O> {
  const values: Record<string, unknown> = {};
  const given = new Map<string, readonly Found[]>();
  const bad = [...(sources.problems ?? nothing), ...(sources.compat?.problems ?? nothing)];
  const mayBeOwn = Object.keys(sources.env).join().includes(OWN);
  for (const [key, option] of Object.entries(options)) {
    try {
      const found = findTexts(option, sources, mayBeOwn);
      if (found.length > 0) given.set(key, found);
      values[key] = found.length === 0 ? option.initial : parseFound(option, found);
    } catch (problem) {
      if (!(problem instanceof BadValue)) throw problem;
      bad.push(problem.message);
    }
  }
  if (values.quiet === true && sources.flags.has("log-level")) {
    if (sources.flags.has("quiet")) bad.push("--quiet and --log-level cannot be used together: give one of them");
    values.quiet = false; // a flag wins over a variable: both set the level
  }
  if (bad.length > 0) throw new Failure(EXIT.usage, allOf(bad));
  // getters, because few starts need them
  return {
    values: values as Values<O>,
    get origins() {
      return mapOptions(options, (key) => originOf(given.get(key)));
    },
    get texts() {
      return mapOptions(options, (key, option) => given.get(key)?.map(({ text }) => text) ?? defaultTexts(option));
    },
  };
}

/** Calls `of` for each option of a set, and returns the results under the same keys. */
function mapOptions<O extends Options, T>(options: O, of: (key: string, option: Option<unknown>) => T) {
  const entries = Object.entries(options).map(([key, option]) => [key, of(key, option)] as const);
  return Object.fromEntries(entries) as { readonly [K in keyof O]: T };
}

/**
 * Formats where an option's values come from: `default` if undefined, otherwise each origin once (`--grace`,
 * `EBB_GRACE`).
 */
function originOf(found: readonly Found[] | undefined): Origin {
  return found === undefined ? "default" : [...new Set(found.map(({ origin }) => origin))].join(", ");
}

/** Returns an option's default as text, in a list that is empty if the option has none. */
function defaultTexts({ initial, initially }: Option<unknown>): readonly string[] {
  const isSet = initial !== undefined && !(Array.isArray(initial) && initial.length === 0);
  return isSet ? [initially] : [];
}

/** A value that an option does not take. Its message names origin and value, and what was expected. */
class BadValue extends Error {}

/**
 * Finds the texts that set an option, each with its origin. Flags win over variables, ebb's own variable over those of
 * other tools (or over `compat`); a repeatable option takes the texts of all its variables. Empty variables and
 * Kubernetes' service links are ignored. If `mayBeOwn` is false, the option's own `EBB_` variable is not looked up.
 * @throws BadValue if a variable's own reader cannot read it
 */
function findTexts(option: Option<unknown>, { flags, env, compat }: Sources, mayBeOwn: boolean): readonly Found[] {
  const given = flags.get(option.flag);
  if (given !== undefined) return foundBy(`--${option.flag}`, given);
  let found: readonly Found[] = nothing;
  for (const variable of mayBeOwn ? option.variables : option.also) {
    const value = env[variable.name];
    if (value === undefined || value === "" || (compat !== undefined && !isOwn(variable))) continue;
    if (isServiceLink(variable.name, value)) continue;
    found = [...found, ...foundBy(variable.name, textsFor(option, variable, { value, env }))];
    if (found.length > 0 && !option.repeatable) return found;
  }
  const more = compat?.values.get(option.flag);
  return more === undefined ? found : [...found, ...more];
}

/** Returns the texts with the flag or variable that gave them all. */
function foundBy(origin: Origin, texts: readonly string[]): readonly Found[] {
  const found: Found[] = [];
  for (const text of texts) found.push({ origin, text });
  return found;
}

/** Reports whether a variable is ebb's own (`EBB_...`), and not another tool's. */
export function isOwn({ name }: OptionVariable): boolean {
  return name.startsWith(OWN);
}

/** The value of a variable, and the environment it is from. */
interface Setting {
  readonly value: string;
  readonly env: Environment;
}

/**
 * Returns the texts that a variable gives for an option: its value, or what the variable's own reader returns for it.
 * @throws BadValue if that reader throws
 */
function textsFor({ shown }: Option<unknown>, variable: OptionVariable, { value, env }: Setting): readonly string[] {
  if (variable.read === undefined) return [value];
  try {
    return variable.read(value, env);
  } catch (cause) {
    throw new BadValue(`${variable.name}: ${(cause as Error).message}, got ${JSON.stringify(shown(value))}`);
  }
}

/**
 * Parses the texts found for an option, all of which must be good. Returns the list of values if the option is
 * repeatable, otherwise the last value.
 * @throws BadValue with the origin and what is expected
 */
function parseFound(option: Option<unknown>, found: readonly Found[]): unknown {
  const { syntax, repeatable } = option;
  const several = repeatable || found.length < 2 ? undefined : syntax.several;
  if (several !== undefined) refuseSeveral(option, found, several);
  const values: unknown[] = []; // no map: JavaScriptCore would compile it, for 0.1 ms
  for (const { origin, text } of found) {
    const value = syntax.parse(text);
    if (value === undefined) {
      const hint = isQuoted(text) ? "; it has quotes in it" : (syntax.hint?.(text) ?? "");
      const expected = syntax.closer?.(text) ?? syntax.expected;
      throw new BadValue(unexpected(origin, expected, text, option.shown) + hint);
    }
    values.push(value);
  }
  return repeatable ? values : values[values.length - 1];
}

function isQuoted(text: string): boolean {
  return text.length > 1 && (text.startsWith('"') || text.startsWith("'")) && text.endsWith(text[0] as string);
}

function refuseSeveral(
  { flag, shown }: Option<unknown>,
  found: readonly Found[],
  several: NonNullable<Syntax<unknown>["several"]>,
): void {
  const expected = several(found.map(({ text }) => text));
  const got = found.map(({ text }) => shown(text)).join(" and ");
  if (expected !== undefined) throw new BadValue(unexpected(`--${flag}`, expected, got));
}
