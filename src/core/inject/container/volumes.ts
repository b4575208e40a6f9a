import type { JsonObject } from "../../base/json.ts";
import { type Container, freeName, type Mount, type Pod, type Volume } from "../pod.ts";
import type { InjectPolicy } from "../policy.ts";
import { EBB_FOLDER } from "./command.ts";

/** The volumes' names in this pod. */
export interface VolumeNames {
  readonly ebb: string;
  readonly annotations: string;
}

/** Returns free names for the volumes that are added to a pod: `ebb`, or with a number where that is taken. */
export function volumeNames({ spec }: Pod): VolumeNames {
  const taken = spec.volumes ?? [];
  return { ebb: freeName("ebb", taken), annotations: freeName("ebb-annotations", taken) };
}

/** The pod's own volumes by their names. */
export type Volumes = ReadonlyMap<string, Volume>;

/** Returns a pod's volumes by name. */
export function volumesOf({ spec }: Pod): Volumes {
  return new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
}

/** Returns the volume for ebb: the image itself as an image volume, or an emptyDir with room for two copies. */
export function ebbVolume(name: string, { volume, image, imagePullPolicy }: InjectPolicy): JsonObject {
  if (volume === "emptyDir") return { name, emptyDir: { sizeLimit: "256Mi" } };
  const pullPolicy = imagePullPolicy === undefined ? {} : { pullPolicy: imagePullPolicy };
  return { name, image: { reference: image, ...pullPolicy } };
}

/** Returns the read-only mount of the volume that has ebb. */
export function ebbMount(name: string): JsonObject {
  return { name, mountPath: EBB_FOLDER, readOnly: true };
}

/** Returns the index of the mount that is at ebb's folder, or inside of it; undefined where there is none. */
export function mountInTheWay({ volumeMounts }: Container): number | undefined {
  const at = (volumeMounts ?? []).findIndex(({ mountPath }) => isIn(pathOf(mountPath), EBB_FOLDER));
  return at < 0 ? undefined : at;
}

/**
 * Returns the downward API volume with the pod's annotations; `isOnNode`: its name, namespace and UID too, which tell its own
 * proxy from others on the node's network.
 */
export function annotationsVolume(name: string, isOnNode: boolean): JsonObject {
  const files = [FILE, ...(isOnNode ? ["name", "namespace", "uid"] : [])];
  const items = files.map((path) => ({ path, fieldRef: { fieldPath: `metadata.${path}` } }));
  return { name, downwardAPI: { items } };
}

const FOLDER = "/etc/podinfo";
const FILE = "annotations";
/** Where something else is at FOLDER. */
const OTHER_FOLDER = "/ebb.dev-podinfo";
/** Where ebb mounts the annotations. */
export const annotationFolders: readonly string[] = [FOLDER, OTHER_FOLDER];

/** How a container comes to the pod's annotations. */
export interface AnnotationsPlace {
  /** undefined: it is there already. */
  readonly mount: JsonObject | undefined;
  /** The file, where it is not the one that ebb looks for by itself. */
  readonly file: string | undefined;
}

/** Finds where a container has, or can have, the pod's annotations as a file; undefined where every place is taken. */
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

/** Without what makes no difference: `/etc//podinfo/`. */
function pathOf(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return `/${parts.join("/")}`;
}

/** Whether a path is a folder, or inside of it. */
function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}
