import type { JsonObject } from "../../base/json.ts";
import { type Container, freeName, type Mount, type Pod, type Volume } from "../pod.ts";
import type { InjectPolicy } from "../policy.ts";
import { EBB_FOLDER } from "./command.ts";

/** The volumes' names in this pod. */
export interface VolumeNames {
  readonly ebb: string;
  readonly annotations: string;
}

export function volumeNames({ spec }: Pod): VolumeNames {
  const taken = spec.volumes ?? [];
  return { ebb: freeName("ebb", taken), annotations: freeName("ebb-annotations", taken) };
}

/** The pod's own volumes by their names. */
export type Volumes = ReadonlyMap<string, Volume>;

export function volumesOf({ spec }: Pod): Volumes {
  return new Map((spec.volumes ?? []).map((volume) => [volume.name, volume]));
}

/** The volume that ebb is in. A copy is made beside its place, then moved: it is there once. */
export function ebbVolume(name: string, { volume, image, imagePullPolicy }: InjectPolicy): JsonObject {
  if (volume === "emptyDir") return { name, emptyDir: { sizeLimit: "256Mi" } };
  const pullPolicy = imagePullPolicy === undefined ? {} : { pullPolicy: imagePullPolicy };
  return { name, image: { reference: image, ...pullPolicy } };
}

export function ebbMount(name: string): JsonObject {
  return { name, mountPath: EBB_FOLDER, readOnly: true };
}

/** The mount that is where ebb is to be, or inside of it; undefined: none. */
export function mountInTheWay({ volumeMounts }: Container): number | undefined {
  const at = (volumeMounts ?? []).findIndex(({ mountPath }) => isIn(pathOf(mountPath), EBB_FOLDER));
  return at < 0 ? undefined : at;
}

/** With the pod's own name where a sidecar has to name it to be this pod's: on the node's network. */
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

/** Undefined: everything is taken. */
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

/** Where the pod's annotations are in what is mounted; undefined: nowhere. */
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
