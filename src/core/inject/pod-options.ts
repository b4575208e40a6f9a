import { redactUrls } from "../base/redact.ts";
import type { Option } from "../cli/option.ts";
import { options } from "../cli/options.ts";

/** The options of `ebb run` by flag, without `--`. Each is an annotation `ebb.dev/FLAG` and a name for `--set`. */
export const podOptions: ReadonlyMap<string, Option<unknown>> = new Map(
  Object.values(options).flatMap((option) => (option.isAnnotation ? [[option.flag, option]] : [])),
);

/** Returns ebb's own variable that sets an option: `EBB_DRAIN` for `drain`. The flag must be of `podOptions`. */
export function variableOf(flag: string): string {
  return variablesOf(flag)[0] as string;
}

/** Returns all variables that set an option: ebb's own, then those of other tools. Empty if there is no such option. */
export function variablesOf(flag: string): readonly string[] {
  return podOptions.get(flag)?.variables.map(({ name }) => name) ?? [];
}

/** What is wrong with a value. */
export type Mismatch = `expected ${string}, got ${string}`;

/**
 * Returns what is wrong with the value of an option, `expected ..., got ...`, with secrets redacted; undefined if it is
 * valid.
 */
export function problemOf({ syntax, variables, shown }: Option<unknown>, text: string): Mismatch | undefined {
  const texts = variables[0]?.read?.(text, {}) ?? [text];
  const bad = texts.length === 0 ? text : texts.find((one) => syntax.parse(one) === undefined);
  return bad === undefined ? undefined : mismatch(syntax.expected, bad, shown);
}

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

/** Values of options by flag, in order. Of several for one flag the last wins. */
type Given = readonly (readonly [flag: string, text: string])[];

/** Merges the options of a container. `said`: by the pod's annotations, which win over `others`. */
export function mergeOptions(others: Given, said: Given): OptionValues {
  const merged = new Map<string, OptionValue>();
  for (const [flag, text] of others) merged.set(flag, { text, isSaid: false });
  for (const [flag, text] of said) merged.set(flag, { text, isSaid: true });
  return merged;
}
