import type { Remark } from "./remark.ts";

/** What a pod's annotations say. */
export interface Wishes {
  /** The containers to put ebb into; undefined: it does not say. */
  readonly containers: readonly string[] | undefined;
  /** Containers that are no app, whatever they are called. */
  readonly sidecars: readonly string[];
  /** The value by option's flag: of all containers, and by container. */
  readonly options: ReadonlyMap<string, string>;
  readonly own: ReadonlyMap<string, ReadonlyMap<string, string>>;
  /** What images start: of all containers without a command, and by container. */
  readonly entrypoint: readonly string[] | undefined;
  readonly entrypoints: ReadonlyMap<string, readonly string[]>;
  readonly problems: readonly Remark[];
  readonly warnings: readonly Remark[];
}
