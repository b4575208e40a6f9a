import type { ImageQuery, Lookup } from "../image/lookup.ts";
import type { Container, Volume } from "./pod.ts";
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
  /** Reports whether the pods' controller sets a container's command, as the manifest has none. */
  readonly setsCommand?: ((container: Container) => boolean) | undefined;
  /** Whether a pod that has ebb of this image is one that other webhooks may have changed since: their changes stay. */
  readonly isAdmission?: boolean | undefined;
}

/** What decides how a pod is changed. */
export interface InjectRequest {
  readonly annotations: PodAnnotations;
  /** Its options include those of an earlier policy that it does not set itself. */
  readonly policy: InjectPolicy;
  /** What an earlier injection knew of the commands of images, by the container's name. */
  readonly former: ReadonlyMap<string, FormerWords>;
  /** What an earlier injection has put there, and stays as it is. */
  readonly kept: Own;
}

/** The parts of a pod that are ebb's own. */
export interface Own {
  /** The init containers that copy ebb. */
  readonly installs: readonly Container[];
  readonly volumes: readonly Volume[];
}

/** What an earlier injection started in a container without a command. */
export interface FormerWords {
  readonly words: readonly string[];
  /** The image that has them, if a registry told them; undefined if the user did. */
  readonly image: TrackedImage | undefined;
}

/** What is recorded of an image whose command a registry told. */
export interface TrackedImage {
  /** As the manifest names it. */
  readonly name: string;
  /** Whether CMD is in the command, because the container had no args. */
  readonly hasCmd: boolean;
  /** Its STOPSIGNAL, if it has one. */
  readonly stopSignal: string | undefined;
}
