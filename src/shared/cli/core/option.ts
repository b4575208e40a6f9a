import { formatDuration } from "../../core/duration.ts";
import type { Environment } from "../../core/environment.ts";
import { hidden, redactUrls } from "../../core/redact.ts";
import { splitBy } from "../../core/text.ts";
import type { CommandName } from "./names.ts";
import type { Syntax } from "./syntax.ts";

/**
 * An environment variable that sets an option: ebb's own (`EBB_...`), or another tool's, read as that tool reads it.
 */
export interface OptionVariable {
  readonly name: string;
  /**
   * Translates the variable's value to values for the flag; an empty list does not set the option. Without it the value
   * itself is taken. @throws Error whose message says what was expected
   */
  readonly read?: (value: string, env: Environment) => readonly string[];
}

/** The subject of an option, under whose heading `--help` shows it. */
export type OptionGroup =
  | ("sidecars" | "waiting" | "child" | "shutdown" | "request" | "log" | "output")
  | ("injection" | "serving" | "certificates" | "installation" | "reaping" | "cluster" | "registries");

/** Who takes a pod's option, if not its apps, helpers and the hooks of apps: no helper, no hook, or also a proxy's hook. */
type InPod = "no-helper" | "no-hook" | "proxy-hook";

/** An option of a command. It is declared once; parsing, help, manual and completion are derived from it. */
export interface Option<T, C extends CommandName = CommandName> {
  /** The flag's name, without dashes. */
  readonly flag: string;
  /** The commands that take it from the common options (options.ts). */
  readonly commands: readonly C[];
  readonly group: OptionGroup;
  /** The value's name in help (`D`, `URL`); undefined for a switch. */
  readonly value: string | undefined;
  readonly repeatable: boolean;
  /** All variables that set it, ebb's own first. */
  readonly variables: readonly OptionVariable[];
  /** The variables of other tools among them. */
  readonly also: readonly OptionVariable[];
  /** The value if nothing sets the option. */
  readonly initial: T;
  /** The default as help shows it; empty if there is none. */
  readonly initially: string;
  readonly help: string;
  /** Its line in `-h`; undefined if few people set it. */
  readonly brief: string | undefined;
  /** The commands for which many people set it; undefined for all that take it. */
  readonly commonIn: readonly C[] | undefined;
  /** The syntax of one value. */
  readonly syntax: Syntax<unknown>;
  /** As declared. */
  readonly secret: boolean | undefined;
  /** Whether a pod sets it by the annotation `ebb.dev/FLAG`, and `--set FLAG=VALUE` for all pods. */
  readonly isAnnotation: boolean;
  /** As declared. */
  readonly inPod: InPod | undefined;
  /** Whether so few set it that help only names it; the command's page has the rest. */
  readonly isRare: boolean;
  /** Redacts one of its values, good or bad, so that errors, `ebb config` and a process's command line may show it. */
  readonly shown: (text: string) => string;
}

/** The declaration of an option whose values are of type V. */
interface Declaration<V, C extends CommandName> {
  readonly flag: string;
  /** The commands that take it from the common options; undefined for one that is declared elsewhere. */
  readonly commands?: readonly C[];
  readonly group?: OptionGroup;
  readonly help: string;
  readonly brief?: string;
  readonly commonIn?: readonly C[];
  readonly syntax: Syntax<V>;
  readonly value?: string;
  /** The name of its own variable, if that is not `EBB_` and the flag's name. */
  readonly variable?: string;
  /** Other tools' variables that set it, too. */
  readonly also?: readonly OptionVariable[];
  /** The default as help shows it, if the value does not say it. */
  readonly initially?: string;
  /** Whether no EBB_ variable sets it. */
  readonly isFlagOnly?: true;
  /** What separates the values of a repeatable option in its EBB_ variable; a comma if undefined. */
  readonly separator?: string;
  /**
   * Whether values are secret and never shown. It must be declared, true or false, if the syntax takes any text; values
   * of other syntaxes, such as URLs and headers, are shown as their syntax says.
   */
  readonly secret?: boolean;
  /** False for an option of `ebb run` that no annotation of a pod sets. */
  readonly isAnnotation?: false;
  readonly inPod?: InPod;
  readonly isRare?: true;
}

/** An empty list, shared to save memory and time at each start. */
export const nothing: readonly never[] = [];

/** Declares an option that always has a value: `initial` unless something sets it. */
export function option<V, C extends CommandName = never>(
  declaration: Declaration<V, C> & { readonly initial: NoInfer<V> },
): Option<V, C> {
  return new Declared<V, C>(declaration, declaration.initial, false);
}

/** Declares an option whose value is undefined unless something sets it. */
export function optional<V, C extends CommandName = never>(declaration: Declaration<V, C>): Option<V | undefined, C> {
  return new Declared<V | undefined, C>(declaration, undefined, false);
}

/**
 * Declares an option that may be given several times. Its value is the list of all, in order, which is empty by
 * default.
 */
export function list<V, C extends CommandName = never>(declaration: Declaration<V, C>): Option<readonly V[], C> {
  return new Declared<readonly V[], C>(declaration, [], true);
}

/** Returns a copy of an option with some of its fields changed. */
export function changed<T, C extends CommandName>(option: Option<T, C>, changes: Partial<Option<T, C>>): Option<T, C> {
  const { flag, commands, group, value, repeatable, variables, also, initial, initially, help, syntax } = option;
  const { brief, commonIn, secret, shown, isAnnotation, inPod, isRare } = option;
  const named = { flag, commands, group, value, repeatable, variables, also, initial, initially, help };
  return { ...named, brief, commonIn, syntax, secret, shown, isAnnotation, inPod, isRare, ...changes };
}

/** Fields that few starts need are getters, because each start creates all options. */
class Declared<T, C extends CommandName> implements Option<T, C> {
  readonly flag: string;
  readonly commands: readonly C[];
  readonly group: OptionGroup;
  readonly value: string | undefined;
  readonly repeatable: boolean;
  readonly initial: T;
  readonly help: string;
  readonly syntax: Syntax<unknown>;
  readonly declaration: Declaration<unknown, C>;

  constructor(declaration: Declaration<unknown, C>, initial: T, repeatable: boolean) {
    this.flag = declaration.flag;
    this.commands = declaration.commands ?? nothing;
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

  get brief(): string | undefined {
    return this.declaration.brief;
  }

  get commonIn(): readonly C[] | undefined {
    return this.declaration.commonIn;
  }

  get secret(): boolean | undefined {
    return this.declaration.secret;
  }

  get isAnnotation(): boolean {
    return this.declaration.isAnnotation !== false && (this.commands as readonly CommandName[]).includes("run");
  }

  get inPod(): InPod | undefined {
    return this.declaration.inPod;
  }

  get isRare(): boolean {
    return this.declaration.isRare === true;
  }

  get shown(): (text: string) => string {
    return this.secret === true ? hidden : (this.syntax.shown ?? redactUrls);
  }

  get also(): readonly OptionVariable[] {
    return this.declaration.also ?? nothing;
  }

  get variables(): readonly OptionVariable[] {
    const { variable, isFlagOnly, separator = "," } = this.declaration;
    const { also } = this;
    if (isFlagOnly === true) return also;
    const name = variable ?? variableName(this.flag);
    return [this.repeatable ? { name, read: (text) => splitBy(text, separator) } : { name }, ...also];
  }
}

/** Formats a default as help shows it. A number is a duration in milliseconds. */
function textOf(initial: unknown): string {
  return typeof initial === "number" ? formatDuration(initial) : String(initial ?? "");
}

/** The prefix of ebb's own variables. */
export const OWN = "EBB_";

/** Returns the name of ebb's own variable for a flag: `EBB_WAIT_TIMEOUT` for `wait-timeout`. */
export function variableName(flag: string): string {
  return `${OWN}${flag.toUpperCase().replaceAll("-", "_")}`;
}

/** A set of options by key; keys are the names of their values in code. */
export type Options = Readonly<Record<string, Option<unknown>>>;
/** The values of a set of options, by the same keys. */
export type Values<O extends Options> = {
  readonly [K in keyof O]: O[K] extends Option<infer T> ? T : never;
};
