import { optionsOf } from "../../../../shared/cli/core/options.ts";
import { hasVariable } from "../facts/env.ts";
import { variableOf, variablesOf } from "../pod-annotations.ts";
import type { AnnotationsFile } from "./annotations-file.ts";
import type { WithDrain } from "./drain.ts";

/** A variable of a container. */
export interface EnvVar {
  readonly name: string;
  readonly value: string;
}

/** The options that `ebb drain` reads, as the hook of a container that ebb does not start. */
const hookFlags: ReadonlySet<string> = new Set(
  Object.values(optionsOf("drain")).flatMap(({ flag, inPod }) => (inPod === "no-hook" ? [] : [flag])),
);

/**
 * Returns the variables of options that the container's env does not set. A value that no annotation of the pod says also
 * gives way to other tools' variables.
 */
export function addedVariables(
  { container, start, options, given, drain }: WithDrain,
  annotationsFile: AnnotationsFile | undefined,
): readonly EnvVar[] {
  const has = (name: string) => hasVariable(container, name);
  const isSet = (flag: string) => (given.annotated.has(flag) ? has(variableOf(flag)) : variablesOf(flag).some(has));
  const isRead = (flag: string) => start.kind !== "unwrapped" || hookFlags.has(flag);
  const isAdded = (flag: string) => isRead(flag) && !(flag === "drain" && drain.kind === "hook") && !isSet(flag);
  const added = [...options].filter(([flag]) => isAdded(flag));
  if (annotationsFile?.path !== undefined) added.push(["pod-annotations", annotationsFile.path]);
  return added.map(([flag, value]) => ({ name: variableOf(flag), value }));
}
