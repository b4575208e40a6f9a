import type { Options, Values } from "../../../../shared/cli/core/option.ts";
import { resolve } from "../../../../shared/cli/core/values.ts";
import type { Environment } from "../../../../shared/core/environment.ts";
import { Failure } from "../../../../shared/core/exit.ts";
import { LONGEST_READ } from "../../../core/readable.ts";
import type { Container } from "../pod.ts";

/** Reports whether the manifest sets a container's variable, whatever its value. */
export function hasVariable({ env }: Pick<Container, "env">, name: string): boolean {
  return (env ?? []).some((one) => one.name === name);
}

/** Returns a container's variables. One whose value is elsewhere (valueFrom), or too long to be looked into, is empty. */
export function variablesIn({ env }: Pick<Container, "env">): Readonly<Record<string, string>> {
  const readableValue = (value: string | null | undefined) =>
    value == null || value.length > LONGEST_READ ? "" : value;
  return Object.fromEntries((env ?? []).map(({ name, value }) => [name, readableValue(value)]));
}

/** Returns the values that variables give to options; undefined if one is bad. */
export function valuesIn<O extends Options>(env: Environment, options: O): Values<O> | undefined {
  try {
    return resolve(options, { flags: new Map(), env }).values;
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
