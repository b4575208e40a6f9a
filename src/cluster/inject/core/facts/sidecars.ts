import type { Options, Values } from "../../../../shared/cli/core/option.ts";
import { resolve } from "../../../../shared/cli/core/values.ts";
import type { Environment } from "../../../../shared/core/environment.ts";
import { Failure } from "../../../../shared/core/exit.ts";
import { LONGEST_READ } from "../../../core/readable.ts";
import type { Container, Pod } from "../pod.ts";
import type { SeenContainer } from "./container-facts.ts";
import { type ShownSidecar, shownIn } from "./shown-sidecars.ts";

/** A sidecar that ebb knows and that a pod's manifest shows. */
export interface PodSidecar extends ShownSidecar {
  /** Its index in spec.containers; undefined if it is native, or becomes so. */
  readonly at: number | undefined;
}

/**
 * Returns the sidecars that ebb knows among a pod's native ones, those that become native (`moved`), and the other
 * containers, but for those that the pod says are its apps.
 */
export function sidecarsOf(
  { spec }: Pod,
  containers: readonly SeenContainer[],
  moved: ReadonlySet<SeenContainer>,
  apps: ReadonlySet<string>,
): readonly PodSidecar[] {
  const natives = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  const ordinary = containers.filter((one) => !apps.has(one.name) && !moved.has(one));
  return [
    ...[...natives.map(shownIn), ...[...moved].map(({ sidecar }) => sidecar)].map((sidecar) => ({
      sidecar,
      at: undefined,
    })),
    ...ordinary,
  ].flatMap(({ sidecar, at }) => (sidecar === undefined ? [] : [{ ...sidecar, at }]));
}

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
