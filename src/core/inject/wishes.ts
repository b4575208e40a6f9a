import type { Remark } from "./remark.ts";

/** What a pod's annotations say, and what is wrong with them. */
export interface Wishes {
  /** The names of the containers that ebb is to start; undefined if the pod does not say. */
  readonly containers: readonly string[] | undefined;
  /** The names of containers that are no app, whatever they are called. */
  readonly sidecars: readonly string[];
  /** Values of options by flag, for all containers. */
  readonly options: ReadonlyMap<string, string>;
  /** Values of options by flag, by the container's name. */
  readonly own: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** What the images of all containers without a command start. */
  readonly entrypoint: readonly string[] | undefined;
  /** What images start, by the container's name. */
  readonly entrypoints: ReadonlyMap<string, readonly string[]>;
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
}
