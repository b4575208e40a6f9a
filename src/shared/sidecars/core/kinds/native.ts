import type { Annotations } from "./kind.ts";

/** The annotation that names native sidecars: `kuma`; `true,cloud-sql-proxy` if `ebb inject` has made it native. */
export const NATIVE = "ebb.dev/native";

/**
 * Reports whether ebb.dev/native names the sidecar: `ebb inject`, `ebb webhook` or a user sets it if no injector's
 * annotation tells.
 */
export function saysNative(annotations: Annotations, name: string): boolean {
  return wordsOf(annotations)?.includes(name) === true;
}

/** Reports whether `ebb inject` has made the sidecar native: then the pod has it. */
export function isMadeNative(annotations: Annotations, name: string): boolean {
  const words = wordsOf(annotations);
  return words?.[0] === "true" && words.includes(name);
}

function wordsOf(annotations: Annotations): readonly string[] | undefined {
  return annotations.get(NATIVE)?.replaceAll(" ", "").split(",");
}
