import type { Container, Volume } from "../pod.ts";

/** What an earlier injection has left that the pod without it does not tell. */
export interface Former {
  /** Options of the policy. */
  readonly options: ReadonlyMap<string, string>;
  /** What was started in the containers without a command, by their names. */
  readonly words: ReadonlyMap<string, FormerWords>;
  /** The init containers that copied ebb, and ebb's volumes. */
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
