import { type JsonObject, listOf, objectOf, textOf } from "../../../shared/core/json.ts";
import { EBB, EBB_FOLDER } from "../../inject/core/facts/command.ts";
import { ebbStartedBy } from "../../inject/core/presence.ts";
import { runningIn } from "../../reaper/core/pod-containers.ts";
import { viewOf } from "../../reaper/core/pod-view.ts";

/** An ebb that can be run in a pod. */
export interface EbbProgram {
  readonly container: string;
  readonly path: string;
}

/**
 * Returns the first running container that starts with ebb, or has it mounted. Returns undefined if the pod's spec shows
 * none: ebb may be the ENTRYPOINT of an image.
 */
export function ebbIn(pod: JsonObject): EbbProgram | undefined {
  const running = new Set(runningIn(viewOf(pod)).map(({ name }) => name));
  for (const each of listOf(objectOf(pod.spec).containers).map(objectOf)) {
    const container = textOf(each.name) ?? "";
    const path = pathIn(each);
    if (running.has(container) && path !== undefined) return { container, path };
  }
  return undefined;
}

function pathIn(container: JsonObject): string | undefined {
  const mounts = listOf(container.volumeMounts);
  const mounted = mounts.some((mount) => objectOf(mount).mountPath === EBB_FOLDER) ? EBB : undefined;
  return ebbStartedBy(container) ?? mounted;
}
