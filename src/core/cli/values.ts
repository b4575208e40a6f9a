import type { Environment } from "../base/environment.ts";
import { isServiceLink } from "../base/service-links.ts";
import type { FailureText } from "../messages/failure-text.ts";
import type { FieldsOf, MessageAt } from "../messages/log-types.ts";
import { allOf, EXIT, Failure } from "../run/exit.ts";
import { nothing, type Option, type Options, OWN, type Values, type Variable } from "./option.ts";
import { unexpected } from "./syntax.ts";

export type Origin = string;

export interface Resolved<O extends Options> {
  readonly values: Values<O>;
  /** For each option where its value came from: `--flag`, a variable's name, or `default`. */
  readonly origins: { readonly [K in keyof O]: Origin };
  /** The values as they were written; none: unset. */
  readonly texts: { readonly [K in keyof O]: readonly string[] };
}

/** One value as it was written, and what gave it: `--flag`, or a variable's name. */
export interface Found {
  readonly origin: Origin;
  readonly text: string;
}

/** What another tool, in whose name ebb was started, is told by its flags and variables: by option's flag. */
export interface ForeignSettings {
  readonly values: ReadonlyMap<string, readonly Found[]>;
  /** What is wrong with them already. */
  readonly problems: readonly FailureText[];
  /** What its user should know of them. */
  readonly notes: readonly Note[];
  /** The one status with which `ready` URLs are ready; undefined: any 2xx. */
  readonly readyStatus?: number;
}

type NoteOf<M extends MessageAt<"warn">> = { readonly message: M; readonly fields: FieldsOf<M> };

/** A warning for the log. */
export type Note =
  | NoteOf<"ignored an environment variable: another one is not set">
  | NoteOf<"disabled by an environment variable: does not wait for the sidecar or quit it">;

/** What sets options. */
export interface Sources {
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly env: Environment;
  /** Stands in the place of other tools' variables. */
  readonly said?: ForeignSettings | undefined;
  /** What is wrong with the flags already. */
  readonly problems?: readonly FailureText[];
}

/**
 * Determines the value of each option: flag, else environment, else default. @throws Failure 64 that names every bad option, its
 * value, and what was expected
 */
export function resolve<O extends Options>(options: O, sources: Sources): Resolved<O> {
  const values: Record<string, unknown> = {};
  const given = new Map<string, readonly Found[]>();
  const bad = [...(sources.problems ?? nothing), ...(sources.said?.problems ?? nothing)];
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
  if (bad.length > 0) throw new Failure(EXIT.usage, allOf(bad));
  // few ask where a value came from, so few starts compute it
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

/** Maps each option of a set to a value, under the same key. */
export function mapOptions<O extends Options, T>(options: O, of: (key: string, option: Option<unknown>) => T) {
  const entries = Object.entries(options).map(([key, option]) => [key, of(key, option)] as const);
  return Object.fromEntries(entries) as { readonly [K in keyof O]: T };
}

/** Says where an option's values come from, for people: `default`, `--grace`, `EBB_GRACE`. */
export function originOf(found: readonly Found[] | undefined): Origin {
  return found === undefined ? "default" : [...new Set(found.map(({ origin }) => origin))].join(", ");
}

/** Returns the option's default as text, for help and `ebb config`; empty if it has none. */
export function defaultTexts({ initial, initially }: Option<unknown>): readonly string[] {
  const isSet = initial !== undefined && !(Array.isArray(initial) && initial.length === 0);
  return isSet ? [initially] : [];
}

export class BadValue extends Error {
  declare readonly message: FailureText;

  constructor(message: FailureText) {
    super(message);
  }
}

/**
 * Finds the texts that set an option, each with its origin: the flag's, else those of the variables. A repeatable option takes the texts
 * of all its variables, any other option those of the first that is set. Without `mayBeOwn` the option's own `EBB_` variable is left out.
 */
export function findTexts(option: Option<unknown>, { flags, env, said }: Sources, mayBeOwn: boolean): readonly Found[] {
  const given = flags.get(option.flag);
  if (given !== undefined) return foundBy(`--${option.flag}`, given);
  let found: readonly Found[] = nothing;
  for (const variable of mayBeOwn ? option.variables : option.also) {
    const value = env[variable.name];
    if (value === undefined || value === "" || (said !== undefined && !isOwn(variable))) continue;
    if (isServiceLink(variable.name, value)) continue;
    found = [...found, ...foundBy(variable.name, textsOf(option, variable, { value, env }))];
    if (found.length > 0 && !option.repeatable) return found;
  }
  const more = said?.values.get(option.flag);
  return more === undefined ? found : [...found, ...more];
}

/** Returns texts as values that come from one origin: a flag or a variable. */
export function foundBy(origin: Origin, texts: readonly string[]): readonly Found[] {
  const found: Found[] = [];
  for (const text of texts) found.push({ origin, text });
  return found;
}

/** Whether a variable is ebb's own, `EBB_...`, and not another tool's. */
export function isOwn({ name }: Variable): boolean {
  return name.startsWith(OWN);
}

export interface Setting {
  readonly value: string;
  readonly env: Environment;
}

/**
 * Returns the texts of an option in a variable: its value, or what the variable's own reader makes of it. @throws BadValue where
 * that cannot read it
 */
export function textsOf({ shown }: Option<unknown>, variable: Variable, { value, env }: Setting): readonly string[] {
  if (variable.read === undefined) return [value];
  try {
    return variable.read(value, env);
  } catch (cause) {
    throw new BadValue(
      `${variable.name}: ${(cause as Error).message as `expected ${string}`}, got ${JSON.stringify(shown(value))}`,
    );
  }
}

/**
 * Parses what was found for an option: all values of a repeatable one, else the last. @throws BadValue with the origin and what is
 * expected
 */
export function parseFound(option: Option<unknown>, found: readonly Found[]): unknown {
  const { syntax, repeatable } = option;
  const values: unknown[] = []; // no map: JavaScriptCore would compile it, for 0.1 ms
  for (const { origin, text } of found) {
    const value = syntax.parse(text);
    if (value === undefined) throw new BadValue(unexpected(origin, syntax.expected, text, option.shown));
    values.push(value);
  }
  return repeatable ? values : values[values.length - 1];
}

/** Lists the EBB_ variables that no option reads: slips that must not pass in silence. */
export function unknownVariables(options: Options, env: Environment): readonly string[] {
  const own: string[] = [];
  for (const name of Object.keys(env)) {
    if (isOwn({ name }) && !isServiceLink(name, env[name] ?? "")) own.push(name);
  }
  if (own.length === 0) return own;
  const known = new Set(Object.values(options).flatMap((option) => option.variables.map(({ name }) => name)));
  return own.filter((name) => !known.has(name));
}

/** Returns a copy of the environment without all variables that set these options. */
export function withoutVariables(options: Options, env: Environment): Environment {
  const known = new Set(Object.values(options).flatMap((option) => option.variables.map(({ name }) => name)));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !known.has(name)));
}
