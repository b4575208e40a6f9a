import { type JsonObject, listOf, objectOf, textOf } from "../json.ts";
import { readAsked } from "../patch-annotations.ts";
import { INSTALL, STATUS } from "../patch-status.ts";

/** Whether ebb was put into a pod, and by which image; undefined: that is not known. */
export type Presence = { readonly kind: "absent" } | { readonly kind: "present"; readonly image: string | undefined };

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

/** What asks for ebb in a pod; undefined: nothing does. `label`: its namespace's ebb.dev/inject. */
export function asksBy(
  { metadata }: JsonObject,
  { label, all }: { readonly label: string | undefined; readonly all: boolean },
): "annotation" | "namespace" | "--all" | undefined {
  const wish = readAsked(objectOf(objectOf(metadata).annotations));
  if (wish === false || typeof wish === "object" || label === "false") return undefined;
  if (wish) return "annotation";
  if (label === "true") return "namespace";
  return all ? "--all" : undefined;
}
