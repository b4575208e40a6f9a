import type { Annotations } from "./kinds/kind.ts";
import { kindOf, type SidecarName } from "./registry.ts";

/** Returns the annotation that says that the sidecar is in this pod, or undefined if the pod has none. */
export function annotationOf(name: SidecarName, annotations: Annotations): string | undefined {
  const { annotation, isInjected } = kindOf(name);
  if (annotation === undefined || !saysSo(annotations.get(annotation))) return undefined;
  return isInjected === undefined || isInjected(annotations) ? annotation : undefined;
}

/** Reports whether an annotation says yes. Injectors write true, injected, a version or JSON; users also `false`. */
function saysSo(value: string | undefined): boolean {
  return value !== undefined && !/^(false|f|no|n|0|off|disabled|)$/i.test(value);
}

/** Reports whether the sidecar's injector has written that it has added it to this pod. */
export function isProven(name: SidecarName, annotations: Annotations): boolean {
  return kindOf(name).annotationIsWish !== true && annotationOf(name, annotations) !== undefined;
}
