import { type JsonObject, listOf, objectOf, textOf } from "../base/json.ts";
import { boolean } from "../cli/syntax.ts";
import { ASK, INSTALL, STATUS } from "../inject/marks.ts";

// The reaper's metric needs this file alone, without the code that changes pods.

/** Whether ebb was put into a pod, and from which image (undefined if that is not known). */
export type Presence = { readonly kind: "absent" } | { readonly kind: "present"; readonly image: string | undefined };

/** Returns whether ebb was put into a pod, by its annotation ebb.dev/status, and from which image. */
export function presenceOf({ metadata, spec }: JsonObject): Presence {
  if (objectOf(objectOf(metadata).annotations)[STATUS] === undefined) return { kind: "absent" };
  const { initContainers, volumes } = objectOf(spec);
  const isNamed = (prefix: string) => (one: JsonObject) => {
    const name = textOf(one.name) ?? "";
    return name === prefix || (name.startsWith(`${prefix}-`) && /^\d+$/.test(name.slice(prefix.length + 1)));
  };
  const copies = listOf(initContainers).map(objectOf).find(isNamed(INSTALL));
  const volume = listOf(volumes).map(objectOf).find(isNamed("ebb"));
  return { kind: "present", image: textOf(copies?.image) ?? textOf(objectOf(volume?.image).reference) };
}

/**
 * Returns by what ebb is requested in a pod: its annotation, its namespace's label or --all. Returns undefined if it is
 * not requested. `label` is ebb.dev/inject of the namespace, whose `false` rules out the others; `all` is whether the
 * webhook has --all.
 */
export function requestedBy(
  { metadata }: JsonObject,
  { label, all }: { readonly label: string | undefined; readonly all: boolean },
): "annotation" | "namespace" | "--all" | undefined {
  const wish = objectOf(objectOf(metadata).annotations)[ASK];
  if (label === "false") return undefined;
  if (wish !== undefined) return typeof wish === "string" && boolean.parse(wish) === true ? "annotation" : undefined;
  if (label === "true") return "namespace";
  return all ? "--all" : undefined;
}
