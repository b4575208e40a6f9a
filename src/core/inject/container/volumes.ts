import type { JsonObject } from "../../base/json.ts";
import { type Container, freeName, type Mount, type Pod, type Volume } from "../pod.ts";
import type { InjectPolicy } from "../policy.ts";
import { EBB_FOLDER } from "./command.ts";

/** The names of the volumes that ebb adds to a pod. */
export interface VolumeNames {
  readonly ebb: string;
  readonly annotations: string;
}

/** Returns names that the pod's volumes do not have yet: `ebb` and `ebb-annotations`, or with a number (`ebb-2`). */
export function volumeNames({ spec }: Pod): VolumeNames {
  const taken = spec.volumes ?? [];
  return { ebb: freeName("ebb", taken), annotations: freeName("ebb-annotations", taken) };
}

/** A pod's own volumes by name. */
export type Volumes = ReadonlyMap<string, Volume>;

/** Returns a pod's volumes by name. */
export function volumesOf({ spec }: Pod): Volumes {
  return new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
}

/**
 * Returns the volume that has ebb: the policy's image as an image volume, or an emptyDir of 256 MiB, which is room for
 * two copies.
 */
export function ebbVolume(name: string, { volume, image, imagePullPolicy }: InjectPolicy): JsonObject {
  if (volume === "emptyDir") return { name, emptyDir: { sizeLimit: "256Mi" } };
  const pullPolicy = imagePullPolicy === undefined ? {} : { pullPolicy: imagePullPolicy };
  return { name, image: { reference: image, ...pullPolicy } };
}

/** Returns the mount of the volume with ebb: read-only, at /ebb.dev. */
export function ebbMount(name: string): JsonObject {
  return { name, mountPath: EBB_FOLDER, readOnly: true };
}

/** Returns the index of the container's first mount at /ebb.dev or below; undefined if there is none. */
export function mountInTheWay({ volumeMounts }: Container): number | undefined {
  const at = (volumeMounts ?? []).findIndex(({ mountPath }) => isIn(pathOf(mountPath), EBB_FOLDER));
  return at < 0 ? undefined : at;
}

/** Returns the downward API volume that has the pod's annotations as a file. */
export function annotationsVolume(name: string): JsonObject {
  return { name, downwardAPI: { items: [{ path: FILE, fieldRef: { fieldPath: "metadata.annotations" } }] } };
}

/** Where `ebb run` looks for the annotations by itself. */
const FOLDER = "/etc/podinfo";
const FILE = "annotations";
/** Taken if something else is mounted at FOLDER. */
const OTHER_FOLDER = "/ebb.dev-podinfo";
/** The folders at which ebb may mount the annotations, in the order in which they are tried. */
export const annotationFolders: readonly string[] = [FOLDER, OTHER_FOLDER];

/** How a container gets the pod's annotations. */
export interface AnnotationsPlace {
  /** The mount to add; undefined if the container has the file already. */
  readonly mount: JsonObject | undefined;
  /** The path of the file; undefined if it is the one that ebb looks for by itself. */
  readonly file: string | undefined;
}

/**
 * Finds the file with the pod's annotations in a container, or a free folder at which the volume `name` can be mounted.
 * Returns undefined if every folder is taken.
 */
export function placeOfAnnotations(
  { volumeMounts }: Container,
  volumes: Volumes,
  name: string,
): AnnotationsPlace | undefined {
  const mounts = (volumeMounts ?? []).map((mount) => ({ mount, path: pathOf(mount.mountPath) }));
  const there = mounts.find(({ path }) => path === FOLDER)?.mount;
  const file = there === undefined ? undefined : fileIn(there, volumes);
  if (file !== undefined) return { mount: undefined, file: file === FILE ? undefined : `${FOLDER}/${file}` };
  const isFree = (folder: string) => mounts.every(({ path }) => !isIn(path, folder) && !isIn(folder, path));
  const folder = annotationFolders.find(isFree);
  if (folder === undefined) return undefined;
  const mount = { name, mountPath: folder, readOnly: true };
  return { mount, file: folder === FOLDER ? undefined : `${folder}/${FILE}` };
}

/** Returns the path of the pod's annotations within a mounted volume; undefined if the volume does not have them. */
function fileIn({ name, subPath }: Mount, volumes: Volumes): string | undefined {
  const volume = volumes.get(name);
  if (volume === undefined || (subPath ?? "") !== "") return undefined;
  const sources = [volume.downwardAPI, ...(volume.projected?.sources ?? []).map(({ downwardAPI }) => downwardAPI)];
  const items = sources.flatMap((source) => source?.items ?? []);
  return items.find(({ fieldRef }) => fieldRef?.fieldPath === "metadata.annotations")?.path ?? undefined;
}

/** Removes what makes no difference in a path: `/etc//podinfo/` becomes `/etc/podinfo`. */
function pathOf(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return `/${parts.join("/")}`;
}

/** Reports whether a path is a folder, or inside of it. */
function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}
