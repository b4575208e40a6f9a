import type { App } from "../apps/app.ts";
import type { Edit } from "../edits/edit.ts";
import type { PodFacts } from "../facts/facts.ts";

/** A remark on a field of a container, by its name (`lifecycle.preStop`; empty: the container itself), or of the pod. */
export interface Note {
  readonly container?: string;
  readonly field: string;
  readonly message: string;
}

/** What a concern wants. With a problem the pod is refused. */
export interface Plan {
  readonly edits: readonly Edit[];
  readonly problems: readonly Note[];
  readonly warnings: readonly Note[];
}

/**
 * One reason to change a pod, or to say something about it. `apps`: what ebb does in each container that is an app.
 * `planned`: the edits of the concerns before it.
 */
export type Concern = (facts: PodFacts, apps: readonly App[], planned: readonly Edit[]) => Partial<Plan>;
