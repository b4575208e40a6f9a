import { redactUrls } from "../../base/redact.ts";
import type { Option } from "../../cli/option.ts";
import { options } from "../../cli/options.ts";
import { nearest } from "../../cli/suggestion.ts";

const runOptions: ReadonlyMap<string, Option<unknown>> = new Map(
  Object.values(options).flatMap((option) => (option.isAnnotation ? [[option.flag, option]] : [])),
);

/** The flags of the options of `ebb run`, without `--`. Each is an annotation `ebb.dev/FLAG` and a name for `--set`. */
export const podOptionFlags: readonly string[] = [...runOptions.keys()];

/** Returns the option of `ebb run` with this flag, without `--`; undefined if there is none. */
export function optionNamed(flag: string): Option<unknown> | undefined {
  return runOptions.get(flag);
}

const variables: ReadonlyMap<string, readonly string[]> = new Map(
  [...runOptions].map(([flag, option]) => [flag, option.variables.map(({ name }) => name)]),
);

/** Returns ebb's own variable that sets an option: `EBB_DRAIN` for `drain`. The flag must be of `podOptionFlags`. */
export function variableOf(flag: string): string {
  return variablesOf(flag)[0] as string;
}

/** Returns all variables that set an option: ebb's own, then those of other tools. Empty if there is no such option. */
export function variablesOf(flag: string): readonly string[] {
  return variables.get(flag) ?? [];
}

/**
 * Returns what is wrong with the value of an option, `expected ..., got ...`, with secrets redacted; undefined if it is
 * valid.
 */
export function problemOf({ syntax, variables, shown }: Option<unknown>, text: string): Mismatch | undefined {
  const texts = variables[0]?.read?.(text, {}) ?? [text];
  const bad = texts.length === 0 ? text : texts.find((one) => syntax.parse(one) === undefined);
  return bad === undefined ? undefined : mismatch(syntax.expected, bad, shown);
}

/**
 * Checks the options for all pods (`--set`). Returns a line for each that is unknown or invalid; empty if all are
 * valid.
 */
export function settingProblems(settings: ReadonlyMap<string, string>): readonly string[] {
  return [...settings].flatMap(([flag, text]): readonly string[] => {
    const option = optionNamed(flag);
    if (option !== undefined) {
      const problem = problemOf(option, text);
      return problem === undefined ? [] : [`--set ${flag}: ${problem}`];
    }
    const near = nearest(flag, podOptionFlags);
    return [`--set ${flag}: ebb run has no such option${near === undefined ? "" : `; did you mean ${near}?`}`];
  });
}

/** What is wrong with a value. */
export type Mismatch = `expected ${string}, got ${string}`;

/** Formats `expected a duration such as 5m, got "soon"`. `shown` redacts the value, by default credentials in URLs. */
export function mismatch(expected: string, text: string, shown = redactUrls): Mismatch {
  return `expected ${expected}, got ${JSON.stringify(shown(text))}`;
}

/** The value of an option in a container. `isSaid`: the pod's own annotations say it. */
export interface OptionValue {
  readonly text: string;
  readonly isSaid: boolean;
}

/** The options of a container by flag. */
export type OptionValues = ReadonlyMap<string, OptionValue>;

/** What gives values to options, by flag. Later fields win. */
export interface Sources {
  /** Derived from the pod: its restartPolicy, grace period and network. */
  readonly pod: ReadonlyMap<string, string>;
  /** Meant for all pods. */
  readonly policy: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
}

/** Merges the options of a container. Precedence: annotations, then the policy, then values derived from the pod. */
export function chooseOptions({ pod, policy, annotations }: Sources): OptionValues {
  const choices = new Map<string, OptionValue>();
  for (const [flag, text] of [...pod, ...policy]) choices.set(flag, { text, isSaid: false });
  for (const [flag, text] of annotations) choices.set(flag, { text, isSaid: true });
  return choices;
}
