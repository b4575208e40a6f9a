import { formatDuration } from "../base/duration.ts";
import type { Environment } from "../base/environment.ts";
import { hidden, redactUrls } from "../base/redact.ts";
import { type Syntax, splitBy } from "./syntax.ts";

/** An environment variable that sets an option: ebb's own (`EBB_...`), or another tool's, read as that tool reads it. */
export interface Variable {
  readonly name: string;
  /** The values as the flag would take them; none: this value does not set the option. Throws what it expected. */
  readonly read?: (value: string, env: Environment) => readonly string[];
}

/** What an option is about: the headings of `--help`, in this order. */
export type OptionGroup =
  | ("sidecars" | "waiting" | "child" | "shutdown" | "request" | "log" | "output")
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

export const nothing: readonly never[] = [];

/** Declares an option that always has a value, its `initial` one unless it is set. */
export function option<V>(declaration: Declaration<V> & { readonly initial: NoInfer<V> }): Option<V> {
  return new Declared<V>(declaration, declaration.initial, false);
}

/** Declares an option that may be unset: its value is then undefined. */
export function optional<V>(declaration: Declaration<V>): Option<V | undefined> {
  return new Declared<V | undefined>(declaration, undefined, false);
}

/** Declares an option that may be given several times: its value is the list, in order. */
export function list<V>(declaration: Declaration<V>): Option<readonly V[]> {
  return new Declared<readonly V[]>(declaration, [], true);
}

/** Returns a copy of an option with some of its fields changed. */
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

/** Formats a default as help shows it: a number is a duration. */
function textOf(initial: unknown): string {
  return typeof initial === "number" ? formatDuration(initial) : String(initial ?? "");
}

/** How ebb's own variables begin. */
export const OWN = "EBB_";

/** Returns the variable of a flag: `EBB_WAIT_TIMEOUT` for `wait-timeout`. */
export function variableName(flag: string): string {
  return `${OWN}${flag.toUpperCase().replaceAll("-", "_")}`;
}

export type Options = Readonly<Record<string, Option<unknown>>>;
export type Values<O extends Options> = {
  readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never;
};
