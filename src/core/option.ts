import * as z from "zod/mini";
import { EXIT, Failure } from "./exit.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** An environment variable that sets an option: ebb's own (`EBB_...`), or another tool's, read as that tool reads it. */
export interface Variable {
  readonly name: string;
  /** The values as the flag would take them; none: this value does not set the option. Throws what it expected. */
  readonly read?: (value: string, env: Environment) => readonly string[];
}

/** An option is declared once: flag, variables, schema, default and help; everything else is derived from it. */
export interface Option<T> {
  readonly flag: string;
  /** The value's name in help (`D`, `URL`); undefined for a switch. */
  readonly value: string | undefined;
  readonly repeatable: boolean;
  readonly variables: readonly Variable[];
  /** The default as the flag would take it; undefined: unset. */
  readonly initial: string | undefined;
  /** What help says of the default where `initial` does not say it. */
  readonly initially: string | undefined;
  readonly help: string;
  readonly schema: z.ZodMiniType<unknown, unknown>;
  readonly type?: T;
}

interface Declaration<V> {
  readonly flag: string;
  readonly help: string;
  readonly schema: z.ZodMiniType<V, unknown>;
  readonly value?: string;
  readonly also?: readonly Variable[];
  readonly initially?: string;
  /** How the EBB_ variable of a repeatable option lists its values. */
  readonly separator?: string;
}

/** An option with a value that is always there. */
export function option<V>(declaration: Declaration<V> & { readonly initial: string }): Option<V> {
  return declare(declaration, declaration.initial, false);
}

/** An option that may be unset. */
export function optional<V>(declaration: Declaration<V>): Option<V | undefined> {
  return declare(declaration, undefined, false);
}

/** An option that may be given several times: its values in order. */
export function list<V>(declaration: Declaration<V>): Option<readonly V[]> {
  return declare(declaration, undefined, true);
}

function declare<V, T>(declaration: Declaration<V>, initial: string | undefined, repeatable: boolean): Option<T> {
  const { flag, help, schema, value, also = [], initially, separator = "," } = declaration;
  const own: Variable = { name: variableName(flag) };
  const split: Variable = { ...own, read: (text) => splitBy(text, separator) };
  return {
    flag,
    help,
    schema,
    value,
    initial,
    initially,
    repeatable,
    variables: [repeatable ? split : own, ...also],
  };
}

/** `EBB_WAIT_TIMEOUT` for `wait-timeout`. */
export function variableName(flag: string): string {
  return `EBB_${flag.toUpperCase().replaceAll("-", "_")}`;
}

/** The parts of a list in a variable, without blanks and empty parts. */
export function splitBy(text: string, separator: string): readonly string[] {
  return text
    .split(separator)
    .map((part) => part.trim())
    .filter((part) => part !== "");
}

/** A schema for text that `parse` understands; it returns undefined for what it does not. */
export function text<V>(parse: (text: string) => V | undefined, expected: string): z.ZodMiniType<V, unknown> {
  return z.pipe(
    z.string(),
    z.transform((input: string, context) => {
      const value = parse(input);
      if (value === undefined)
        context.issues.push({
          code: "custom",
          message: `expected ${expected}`,
          input,
        });
      return value as V;
    }),
  );
}

/** A schema for one of a few words. */
export function oneOf<const W extends readonly [string, ...string[]]>(words: W): z.ZodMiniType<W[number], unknown> {
  return z.enum(words, {
    error: `expected ${words.slice(0, -1).join(", ")} or ${words.at(-1)}`,
  });
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
  /** The values as they were written. */
  readonly texts: { readonly [K in keyof O]: readonly string[] };
}

interface Found {
  readonly origin: Origin;
  readonly texts: readonly string[];
}

/**
 * The value of each option: flag > environment > default. `problems` holds what is wrong with the flags already.
 * @throws Failure 64 that names every bad option, its value, and what was expected
 */
export function resolve<O extends Options>(
  options: O,
  flags: ReadonlyMap<string, readonly string[]>,
  env: Environment,
  problems: readonly string[] = [],
): Resolved<O> {
  const values: Record<string, unknown> = {};
  const origins: Record<string, Origin> = {};
  const texts: Record<string, readonly string[]> = {};
  const bad = [...problems];
  for (const [key, option] of Object.entries(options)) {
    try {
      const found = find(option, flags, env);
      origins[key] = found.origin;
      texts[key] = found.texts;
      values[key] = read(option, found);
    } catch (problem) {
      if (!(problem instanceof BadValue)) throw problem;
      bad.push(problem.message);
    }
  }
  if (bad.length > 0) throw new Failure(EXIT.usage, bad.join("\n"));
  return { values, origins, texts } as unknown as Resolved<O>;
}

class BadValue extends Error {}

function find(option: Option<unknown>, flags: ReadonlyMap<string, readonly string[]>, env: Environment): Found {
  const given = flags.get(option.flag);
  if (given !== undefined) return { origin: `--${option.flag}`, texts: given };
  const set = option.variables.map((variable) => ({
    origin: variable.name,
    texts: textsOf(variable, env),
  }));
  const used = set.filter(({ texts }) => texts.length > 0);
  const [first] = used;
  if (first === undefined)
    return {
      origin: "default",
      texts: option.initial === undefined ? [] : [option.initial],
    };
  if (!option.repeatable) return first;
  return {
    origin: used.map(({ origin }) => origin).join(", "),
    texts: used.flatMap(({ texts }) => texts),
  };
}

function textsOf(variable: Variable, env: Environment): readonly string[] {
  const value = env[variable.name];
  if (value === undefined || value === "") return [];
  if (variable.read === undefined) return [value];
  try {
    return variable.read(value, env);
  } catch (cause) {
    throw new BadValue(`${variable.name}: ${(cause as Error).message}, got ${JSON.stringify(value)}`);
  }
}

function read(option: Option<unknown>, { origin, texts }: Found): unknown {
  const values = texts.map((text) => {
    const result = option.schema.safeParse(text);
    if (result.success) return result.data;
    const expected = result.error.issues.map((issue) => issue.message).join("; ");
    throw new BadValue(`${origin}: ${expected}, got ${JSON.stringify(text)}`);
  });
  return option.repeatable ? values : values.at(-1);
}

/** Variables of ebb's own form that set nothing: a typing error that must not pass in silence. */
export function unknownVariables(options: Options, env: Environment): readonly string[] {
  const known = new Set(Object.values(options).flatMap((option) => option.variables.map(({ name }) => name)));
  return Object.keys(env).filter((name) => name.startsWith("EBB_") && !known.has(name));
}
