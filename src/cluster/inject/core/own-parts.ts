import { APPS_FOLDER, OWN_FOLDER } from "../../../shared/core/peer-volume.ts";
import { EBB } from "./facts/command.ts";
import type { Mount } from "./pod.ts";

// The parts that ebb adds to a pod, beside what annotation-names.ts names: by these it knows them again.

/** The command of the init container that copies ebb. */
export const installCommand: string[] = ["/ebb", "install", EBB];

/** Where `ebb run` looks for the annotations by itself. */
export const ANNOTATIONS_FOLDER = "/etc/podinfo";
/** The folders at which ebb may mount the annotations, in the order in which they are tried. */
export const annotationFolders: readonly string[] = [ANNOTATIONS_FOLDER, "/ebb.dev-podinfo"];

/** Returns the mounts of the volume that app containers share: all of it, read-only, and the container's own folder of it. */
export function appsMounts(volume: string, container: string): readonly Mount[] {
  return [
    { name: volume, mountPath: APPS_FOLDER, readOnly: true },
    { name: volume, mountPath: OWN_FOLDER, subPath: container },
  ];
}

/** Reports whether a container's mount is one of `appsMounts`. */
export function isAppsMount({ mountPath, readOnly, subPath }: Mount, container: string): boolean {
  return mountPath === APPS_FOLDER ? readOnly === true : mountPath === OWN_FOLDER && subPath === container;
}
