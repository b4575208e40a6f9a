import type { ImageQuery, Lookup } from "../image/lookup.ts";
import type { PodAnnotations } from "./pod-annotations.ts";

/**
 * How pods are changed if their own annotations do not say otherwise: the settings of `ebb webhook` and `ebb inject`.
 */
export interface InjectPolicy {
  /** The image that has ebb as /ebb. */
  readonly image: string;
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | undefined;
  /** Whether pods without ebb.dev/inject are changed, too. A pod that says "false" never is. */
  readonly all: boolean;
  /** `emptyDir`: an init container copies ebb into the pod. `image`: the image itself is mounted. */
  readonly volume: "emptyDir" | "image";
  /**
   * Values of the options of `ebb run` by flag without `--` (`drain`), in the syntax of their variables. Annotations
   * win.
   */
  readonly options: ReadonlyMap<string, string>;
  /**
   * What an image starts (ENTRYPOINT, and CMD if the container has no args), by the container's name, or by the image
   * with or without its tag.
   */
  readonly entrypoints: ReadonlyMap<string, readonly string[]>;
  /** Returns what a registry says of an image that none of them knows; undefined if none was asked. */
  readonly imageOf?: ((query: ImageQuery) => Lookup | undefined) | undefined;
}

/** What decides how a pod is changed. */
export interface InjectRequest {
  readonly annotations: PodAnnotations;
  /** Its options include those of an earlier policy that it does not set itself. */
  readonly policy: InjectPolicy;
  /** What images start, by the container's name, as an earlier injection knew it. */
  readonly formerEntrypoints: ReadonlyMap<string, readonly string[]>;
}
