import type { Path } from "../../../shared/core/json.ts";
import type { ImageQuery, Lookup } from "../../image/core/lookup.ts";
import type { Container } from "./pod.ts";

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
  /**
   * Returns what a registry says of an image whose command neither the manifest nor an option says; undefined if it has not
   * been asked yet. Left out: no registry is asked.
   */
  readonly imageOf?: ((query: ImageQuery) => Lookup | undefined) | undefined;
  /** Reports whether the pods' controller sets a container's command, as the manifest has none. */
  readonly setsCommand?: ((container: Container) => boolean) | undefined;
  /** Returns how the manifest has an empty field of the pod, by its path, where ebb would write it otherwise. */
  readonly writtenAt?: ((path: Path) => string | undefined) | undefined;
  /** Whether a pod that has ebb of this image is one that other webhooks may have changed since: their changes stay. */
  readonly isAdmission?: boolean | undefined;
}
