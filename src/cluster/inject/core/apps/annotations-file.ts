import { hasVariable } from "../facts/env.ts";
import type { PodFacts } from "../facts/facts.ts";
import { isIn, normalPath } from "../facts/mounts.ts";
import { ANNOTATIONS_FOLDER, annotationFolders } from "../own-parts.ts";
import type { Container, Mount, Volume } from "../pod.ts";
import { variableOf } from "../pod-annotations.ts";
import type { WithOptions } from "./options.ts";

const FILE = "annotations";

/** How a container gets the pod's annotations. */
export interface AnnotationsFile {
  /** The mount to add; undefined if the container has the file already. */
  readonly mount?: Mount;
  /** The path of the file; undefined if it is the one that ebb looks for by itself. */
  readonly path: string | undefined;
}

/** Returns the downward API volume that has the pod's annotations as a file. */
export function annotationsVolume(name: string): Volume {
  return { name, downwardAPI: { items: [{ path: FILE, fieldRef: { fieldPath: "metadata.annotations" } }] } };
}

/**
 * Finds the file with the pod's annotations in a container, or a free folder at which the volume `name` can be mounted.
 * Returns undefined if every folder is taken. `volumes`: the pod's own.
 */
function findAnnotationsFile(
  { volumeMounts }: Container,
  volumes: readonly Volume[],
  name: string,
): AnnotationsFile | undefined {
  const mounts = (volumeMounts ?? []).map((mount) => ({ mount, path: normalPath(mount.mountPath) }));
  const there = mounts.find(({ path }) => path === ANNOTATIONS_FOLDER)?.mount;
  const file = there === undefined ? undefined : fileIn(there, volumes);
  if (file !== undefined) return { path: file === FILE ? undefined : `${ANNOTATIONS_FOLDER}/${file}` };
  const isFree = (folder: string) => mounts.every(({ path }) => !isIn(path, folder) && !isIn(folder, path));
  const folder = annotationFolders.find(isFree);
  if (folder === undefined) return undefined;
  const mount = { name, mountPath: folder, readOnly: true };
  return { mount, path: folder === ANNOTATIONS_FOLDER ? undefined : `${folder}/${FILE}` };
}

/** Returns the path of the pod's annotations within a mounted volume; undefined if the volume does not have them. */
function fileIn({ name, subPath }: Mount, volumes: readonly Volume[]): string | undefined {
  const volume = volumes.findLast((one) => one.name === name);
  if (volume === undefined || (subPath ?? "") !== "") return undefined;
  const sources = [volume.downwardAPI, ...(volume.projected?.sources ?? []).map(({ downwardAPI }) => downwardAPI)];
  const items = sources.flatMap((source) => source?.items ?? []);
  return items.find(({ fieldRef }) => fieldRef?.fieldPath === "metadata.annotations")?.path ?? undefined;
}

/** Finds the file for an ebb that looks for sidecars; undefined if an option or variable says in which file they are. */
export function annotationsFileFor(
  { container, options }: WithOptions,
  { pod, volumes }: PodFacts,
): AnnotationsFile | undefined {
  const isSaid = options.has("pod-annotations") || hasVariable(container, variableOf("pod-annotations"));
  return isSaid ? undefined : findAnnotationsFile(container, pod.spec.volumes ?? [], volumes.annotations);
}
