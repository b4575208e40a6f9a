import { formatDuration } from "../base/duration.ts";
import type { Environment } from "../base/environment.ts";
import { hidden, redactUrls } from "../base/redact.ts";
import { isServiceLink } from "../base/service-links.ts";
import { EXIT, Failure } from "../run/exit.ts";
import { type Syntax, splitBy, unexpected } from "./syntax.ts";

/** An environment variable that sets an option: ebb's own (`EBB_...`), or another tool's, read as that tool reads it. */
export interface Variable {
  readonly name: string;
  /** The values as the flag would take them; none: this value does not set the option. Throws what it expected. */
  readonly read?: (value: string, env: Environment) => readonly string[];
}

/** What an option is about: the headings of `--help`, in this order. */
export type OptionGroup =
  | ("sidecars" | "waiting" | "child" | "leaving" | "request" | "log" | "output")
  | ("injection" | "serving" | "certificates" | "installation" | "reaping" | "cluster");

/** An option is declared once: flag, variables, syntax, default and help; everything else is derived from it. */
export interface Option<T> {
  readonly flag: string;
  readonly group: OptionGroup;
  /** The value's name in help (`D`, `URL`); undefined for a switch. */
  readonly value: string | undefined;
  readonly repeatable: boolean;
  readonly variables: readonly Variable[];
  /** Those of them that are other tools'. */
  readonly also: readonly Variable[];
  /** The value when nothing else sets it. */
  readonly initial: T;
  /** What help says of the default; empty: there is none. */
  readonly initially: string;
  readonly help: string;
  readonly syntax: Syntax<unknown>;
  /** As declared. */
  readonly secret: boolean | undefined;
  /** What may be shown of one of its values, good or bad: in errors, in `ebb config`, in a process's command line. */
  readonly shown: (text: string) => string;
}

interface Declaration<V> {
  readonly flag: string;
  readonly group?: OptionGroup;
  readonly help: string;
  readonly syntax: Syntax<V>;
  readonly value?: string;
  /** Its variable where `EBB_` and the flag's name will not do. */
  readonly variable?: string;
  readonly also?: readonly Variable[];
  /** What help says of the default where the value does not say it. */
  readonly initially?: string;
  /** No EBB_ variable sets it. */
  readonly isFlagOnly?: true;
  /** How the EBB_ variable of a repeatable option lists its values. */
  readonly separator?: string;
  /**
   * true: no value is ever shown. Must be said, true or false, where any text is a value; URLs and headers are shown as their
   * syntax has it.
   */
  readonly secret?: boolean;
}

const nothing: readonly never[] = [];

/** An option with a value that is always there. */
export function option<V>(declaration: Declaration<V> & { readonly initial: NoInfer<V> }): Option<V> {
  return new Declared<V>(declaration, declaration.initial, false);
}

/** An option that may be unset. */
export function optional<V>(declaration: Declaration<V>): Option<V | undefined> {
  return new Declared<V | undefined>(declaration, undefined, false);
}

/** An option that may be given several times: its values in order. */
export function list<V>(declaration: Declaration<V>): Option<readonly V[]> {
  return new Declared<readonly V[]>(declaration, [], true);
}

/** The same option, but for some of it. */
export function changed<T>(option: Option<T>, changes: Partial<Option<T>>): Option<T> {
  const { flag, group, value, repeatable, variables, also, initial, initially, help, syntax, secret, shown } = option;
  const same = { flag, group, value, repeatable, variables, also, initial, initially, help, syntax, secret, shown };
  return { ...same, ...changes };
}

/** Each start makes all of them: what only some starts ask is made when it is asked. */
class Declared<T> implements Option<T> {
  readonly flag: string;
  readonly group: OptionGroup;
  readonly value: string | undefined;
  readonly repeatable: boolean;
  readonly initial: T;
  readonly help: string;
  readonly syntax: Syntax<unknown>;
  readonly declaration: Declaration<unknown>;

  constructor(declaration: Declaration<unknown>, initial: T, repeatable: boolean) {
    this.flag = declaration.flag;
    this.group = declaration.group ?? "output";
    this.value = declaration.value;
    this.repeatable = repeatable;
    this.initial = initial;
    this.help = declaration.help;
    this.syntax = declaration.syntax;
    this.declaration = declaration;
  }

  get initially(): string {
    return this.declaration.initially ?? textOf(this.initial);
  }

  get secret(): boolean | undefined {
    return this.declaration.secret;
  }

  get shown(): (text: string) => string {
    return this.secret === true ? hidden : (this.syntax.shown ?? redactUrls);
  }

  get also(): readonly Variable[] {
    return this.declaration.also ?? nothing;
  }

  get variables(): readonly Variable[] {
    const { variable, isFlagOnly, separator = "," } = this.declaration;
    const { also } = this;
    if (isFlagOnly === true) return also;
    const name = variable ?? variableName(this.flag);
    return [this.repeatable ? { name, read: (text) => splitBy(text, separator) } : { name }, ...also];
  }
}

/** A default as help writes it; a number is a duration. */
function textOf(initial: unknown): string {
  return typeof initial === "number" ? formatDuration(initial) : String(initial ?? "");
}

/** How ebb's own variables begin. */
const OWN = "EBB_";

/** `EBB_WAIT_TIMEOUT` for `wait-timeout`. */
export function variableName(flag: string): string {
  return `${OWN}${flag.toUpperCase().replaceAll("-", "_")}`;
}

export type Options = Readonly<Record<string, Option<unknown>>>;
export type Values<O extends Options> = {
  readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never;
};
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
export interface Said {
  readonly values: ReadonlyMap<string, readonly Found[]>;
  /** What is wrong with them already. */
  readonly problems: readonly string[];
  /** What its user should know of them. */
  readonly notes: readonly Note[];
  /** The one status with which `ready` URLs are ready; undefined: any 2xx. */
  readonly readyStatus?: number;
}

/** A warning for the log. */
export interface Note {
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** What sets options. */
export interface Sources {
  readonly flags: ReadonlyMap<string, readonly string[]>;
  readonly env: Environment;
  /** Stands in the place of other tools' variables. */
  readonly said?: Said | undefined;
  /** What is wrong with the flags already. */
  readonly problems?: readonly string[];
}

/**
 * The value of each option: flag > environment > default.
 * @throws Failure 64 that names every bad option, its value, and what was expected
 */
export function resolve<O extends Options>(options: O, sources: Sources): Resolved<O> {
  const values: Record<string, unknown> = {};
  const given = new Map<string, readonly Found[]>();
  const bad = [...(sources.problems ?? nothing), ...(sources.said?.problems ?? nothing)];
  const mayBeOwn = Object.keys(sources.env).join().includes(OWN);
  for (const [key, option] of Object.entries(options)) {
    try {
      const found = find(option, sources, mayBeOwn);
      if (found.length > 0) given.set(key, found);
      values[key] = found.length === 0 ? option.initial : read(option, found);
    } catch (problem) {
      if (!(problem instanceof BadValue)) throw problem;
      bad.push(problem.message);
    }
  }
  if (bad.length > 0) throw new Failure(EXIT.usage, bad.join("\n"));
  // few ask where a value came from, so few starts compute it
  return {
    values: values as Values<O>,
    get origins() {
      return forEach(options, (key) => originOf(given.get(key)));
    },
    get texts() {
      return forEach(options, (key, option) => given.get(key)?.map(({ text }) => text) ?? defaultTexts(option));
    },
  };
}

function forEach<O extends Options, T>(options: O, of: (key: string, option: Option<unknown>) => T) {
  const entries = Object.entries(options).map(([key, option]) => [key, of(key, option)] as const);
  return Object.fromEntries(entries) as { readonly [K in keyof O]: T };
}

function originOf(found: readonly Found[] | undefined): Origin {
  return found === undefined ? "default" : [...new Set(found.map(({ origin }) => origin))].join(", ");
}

function defaultTexts({ initial, initially }: Option<unknown>): readonly string[] {
  const isSet = initial !== undefined && !(Array.isArray(initial) && initial.length === 0);
  return isSet ? [initially] : [];
}

class BadValue extends Error {}

/** A list gathers what all variables give; of any other option the first that is set counts. */
function find(option: Option<unknown>, { flags, env, said }: Sources, mayBeOwn: boolean): readonly Found[] {
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

function foundBy(origin: Origin, texts: readonly string[]): readonly Found[] {
  const found: Found[] = [];
  for (const text of texts) found.push({ origin, text });
  return found;
}

function isOwn({ name }: Variable): boolean {
  return name.startsWith(OWN);
}

interface Setting {
  readonly value: string;
  readonly env: Environment;
}

function textsOf({ shown }: Option<unknown>, variable: Variable, { value, env }: Setting): readonly string[] {
  if (variable.read === undefined) return [value];
  try {
    return variable.read(value, env);
  } catch (cause) {
    throw new BadValue(`${variable.name}: ${(cause as Error).message}, got ${JSON.stringify(shown(value))}`);
  }
}

function read(option: Option<unknown>, found: readonly Found[]): unknown {
  const { syntax, repeatable } = option;
  const values: unknown[] = []; // no map: JavaScriptCore would compile it, for 0.1 ms
  for (const { origin, text } of found) {
    const value = syntax.parse(text);
    if (value === undefined) throw new BadValue(unexpected(origin, syntax.expected, text, option.shown));
    values.push(value);
  }
  return repeatable ? values : values[values.length - 1];
}

/** Variables of ebb's own form that set nothing: a typing error that must not pass in silence. */
export function unknownVariables(options: Options, env: Environment): readonly string[] {
  const own: string[] = [];
  for (const name of Object.keys(env)) {
    if (isOwn({ name }) && !isServiceLink(name, env[name] ?? "")) own.push(name);
  }
  if (own.length === 0) return own;
  const known = new Set(Object.values(options).flatMap((option) => option.variables.map(({ name }) => name)));
  return own.filter((name) => !known.has(name));
}

/** The environment without what sets these options. */
export function withoutVariables(options: Options, env: Environment): Environment {
  const known = new Set(Object.values(options).flatMap((option) => option.variables.map(({ name }) => name)));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !known.has(name)));
}
