import { isObject, objectOf, type Path, textOf } from "../../../../shared/core/json.ts";
import { STATUS } from "../annotation-names.ts";
import { addedTo, type ContainerStatus, readStatus, type Status } from "./status.ts";

/** A text of a manifest, and the path in the pod to the field that it stands for. */
type Written = readonly [path: Path, text: string];

/** What of a pod has containers with names. */
interface Named {
  readonly spec: { readonly containers: readonly { readonly name: string }[] };
}

/** Returns how a pod's manifest had the fields in which nothing was before ebb added to them, as ebb.dev/status says. */
export function writtenIn(pod: unknown): readonly Written[] {
  const status = readStatus(textOf(objectOf(objectOf(objectOf(pod).metadata).annotations)[STATUS]));
  if (status === undefined || "field" in status || !Array.isArray(objectOf(objectOf(pod).spec).containers)) return [];
  return fieldsOf(pod as Named, status).flatMap(({ path, of, name }) => {
    const text = of.written?.[name];
    return text === undefined ? [] : [[path, text] as const];
  });
}

/** Adds to a status, in place, how the manifest has these fields. */
export function recordWritten(pod: Named, status: Status, textAt: (path: Path) => string | undefined): void {
  for (const { path, of, name, isEmpty } of fieldsOf(pod, status)) {
    const text = isEmpty ? textAt(path) : undefined;
    if (text !== undefined) of.written = { ...of.written, [name]: text };
  }
}

interface Field {
  readonly path: Path;
  readonly of: Status | ContainerStatus;
  readonly name: string;
  /** Whether nothing was in it. */
  readonly isEmpty: boolean;
}

/** Lists the fields that ebb adds to. */
function fieldsOf({ spec }: Named, status: Status): readonly Field[] {
  const listed = (path: Path, of: Status | ContainerStatus, names: readonly string[]) =>
    names.map((name) => ({ path: [...path, name], of, name, isEmpty: Object.hasOwn(of.empty ?? {}, name) }));
  return [
    ...listed([], status, addedTo.pod),
    ...listed(["metadata"], status, addedTo.metadata),
    ...listed(["spec"], status, addedTo.spec),
    ...spec.containers.flatMap(({ name }, at) => {
      const of = Object.hasOwn(status.containers, name) ? status.containers[name] : undefined;
      if (of === undefined) return [];
      const path = ["spec", "containers", at];
      const isEmpty = of.preStop === null || (isObject(of.preStop) && Object.keys(of.preStop).length === 0);
      return [
        ...listed(path, of, addedTo.container),
        { path: [...path, "lifecycle", "preStop"], of, name: "preStop", isEmpty },
      ];
    }),
  ];
}
