import { readSmall } from "../../shared/io/file.ts";
import type { Log } from "../../shared/output/log.ts";
import { parseAnnotations } from "../../shared/sidecars/core/detect.ts";
import type { Annotations } from "../../shared/sidecars/core/kinds/kind.ts";

/** Kubernetes allows a pod 256 KiB of annotations (apimachinery, TotalAnnotationSizeLimitB). */
const MOST_ANNOTATIONS_MIB = 1;

/**
 * Reads the pod's annotations from the file of the downward API. Returns an empty map if there is no such file, or if
 * it cannot be read or is larger than 1 MiB (`MOST_ANNOTATIONS_MIB`): it then logs a warning.
 */
export function readAnnotations(path: string, log?: Log): Annotations {
  const text = readSmall(path, MOST_ANNOTATIONS_MIB);
  if (typeof text === "object") log?.warn({ path, reason: text.reason }, "cannot read the pod's annotations");
  return typeof text === "string" ? parseAnnotations(text) : new Map();
}
