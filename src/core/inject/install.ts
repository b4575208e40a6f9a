import { type JsonObject, valueAt } from "../base/json.ts";
import { parseQuantity } from "../cluster/quantity.ts";
import { INSTALL } from "./annotation-names.ts";
import { EBB, EBB_FOLDER } from "./container/command.ts";
import { type Amounts, type Container, freeName, type Mount, type Pod, type Volume } from "./pod.ts";
import type { InjectPolicy } from "./policy.ts";

/**
 * Returns the volume that has ebb: the policy's image as an image volume, or an emptyDir of 256 MiB, which is room for
 * two copies.
 */
export function ebbVolume(name: string, { volume, image, imagePullPolicy }: InjectPolicy): Volume {
  if (volume === "emptyDir") return { name, emptyDir: { sizeLimit: "256Mi" } };
  const pullPolicy = imagePullPolicy === undefined ? {} : { pullPolicy: imagePullPolicy };
  return { name, image: { reference: image, ...pullPolicy } };
}

/** Returns the mount of the volume with ebb: read-only, at /ebb.dev. */
export function ebbMount(name: string): Mount {
  return { name, mountPath: EBB_FOLDER, readOnly: true };
}

/** Returns the index of the container's first mount at /ebb.dev or below; undefined if there is none. */
export function mountInTheWay(container: Container): number | undefined {
  return mountIn(EBB_FOLDER, container);
}

/** Returns the index of the container's first mount at a folder or below; undefined if there is none. */
export function mountIn(folder: string, { volumeMounts }: Container): number | undefined {
  const at = (volumeMounts ?? []).findIndex(({ mountPath }) => isIn(pathOf(mountPath), folder));
  return at < 0 ? undefined : at;
}

/** Where `ebb run` looks for the annotations by itself. */
const FOLDER = "/etc/podinfo";
const FILE = "annotations";
/** The folders at which ebb may mount the annotations, in the order in which they are tried. */
export const annotationFolders: readonly string[] = [FOLDER, "/ebb.dev-podinfo"];

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
export function findAnnotationsFile(
  { volumeMounts }: Container,
  volumes: readonly Volume[],
  name: string,
): AnnotationsFile | undefined {
  const mounts = (volumeMounts ?? []).map((mount) => ({ mount, path: pathOf(mount.mountPath) }));
  const there = mounts.find(({ path }) => path === FOLDER)?.mount;
  const file = there === undefined ? undefined : fileIn(there, volumes);
  if (file !== undefined) return { path: file === FILE ? undefined : `${FOLDER}/${file}` };
  const isFree = (folder: string) => mounts.every(({ path }) => !isIn(path, folder) && !isIn(folder, path));
  const folder = annotationFolders.find(isFree);
  if (folder === undefined) return undefined;
  const mount = { name, mountPath: folder, readOnly: true };
  return { mount, path: folder === FOLDER ? undefined : `${folder}/${FILE}` };
}

/** Returns the path of the pod's annotations within a mounted volume; undefined if the volume does not have them. */
function fileIn({ name, subPath }: Mount, volumes: readonly Volume[]): string | undefined {
  const volume = volumes.findLast((one) => one.name === name);
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

/** The command of the init container that copies ebb. */
export const installCommand: string[] = ["/ebb", "install", EBB];

/**
 * Returns the init container that copies ebb into the volume of this name. The image's user is 65532
 * (Dockerfile.distroless).
 */
export function installContainer(pod: Pod, volume: string, { image, imagePullPolicy }: InjectPolicy): Container {
  const resources = resourcesFor(pod);
  return {
    name: freeName(INSTALL, [...pod.spec.containers, ...(pod.spec.initContainers ?? [])]),
    image,
    ...(imagePullPolicy === undefined ? {} : { imagePullPolicy }),
    command: [...installCommand],
    ...(resources === undefined ? {} : { resources }),
    securityContext: restrictedSecurity(pod),
    volumeMounts: [{ name: volume, mountPath: EBB_FOLDER }],
  };
}

/**
 * Returns a container's securityContext that Pod Security's "restricted" admits. The user stays the pod's or the
 * image's, because OpenShift refuses any but the namespace's own; only in a pod that runs as root it is set, to 65532.
 * `pod` is any JSON.
 */
export function restrictedSecurity(pod: unknown): JsonObject {
  const isRoot = valueAt(pod, ["spec", "securityContext", "runAsUser"]) === 0;
  return {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    ...(isRoot ? { runAsUser: 65532, runAsGroup: 65532 } : {}),
    seccompProfile: { type: "RuntimeDefault" },
  };
}

const MiB = 2 ** 20;

/** What the copying needs of a resource, in cores or bytes. */
interface Need {
  readonly name: "cpu" | "memory" | "ephemeral-storage";
  readonly request: number;
  /** How much is enough. */
  readonly limit: number;
  /** How much it cannot do without. */
  readonly least: number;
}

/**
 * Measured: a copy takes 100 MB on the disk, less than 16 MiB of memory, and with a whole processor a fraction of a
 * second. With 128 MiB it stays in the page cache, from where the app is started next; with less that would have to
 * read it from the disk.
 */
const needs: readonly Need[] = [
  { name: "cpu", request: 0.1, limit: 1, least: 0 },
  { name: "memory", request: 16 * MiB, limit: 128 * MiB, least: 16 * MiB },
  { name: "ephemeral-storage", request: 128 * MiB, limit: 128 * MiB, least: 128 * MiB },
];

/**
 * Returns the requests and limits of the init container: those that all containers of the pod set, as quotas demand;
 * undefined if there are none. It requests at most their sum: init containers run before them, so the scheduler counts
 * the larger. The pod's QoS class stays.
 */
function resourcesFor({ spec }: Pod): Container["resources"] | undefined {
  if (spec.resources?.requests != null || spec.resources?.limits != null) return undefined; // the pod's own count then
  const isGuaranteed = isGuaranteedPod(spec);
  const requests: Record<string, string> = {};
  const limits: Record<string, string> = {};
  for (const need of needs) {
    const { name } = need;
    const isEqual = isGuaranteed && name !== "ephemeral-storage";
    const limit = limitFor(
      need,
      isEqual,
      totalOf(spec, ({ limits }) => limits?.[name]),
    );
    const total = totalOf(spec, ({ requests, limits }) => requests?.[name] ?? limits?.[name]);
    if (limit !== undefined) limits[name] = textOf(need, limit);
    if (total !== undefined) requests[name] = textOf(need, isEqual ? (limit ?? 0) : Math.min(need.request, total));
  }
  const set = Object.entries({ requests, limits }).filter(([, amounts]) => Object.keys(amounts).length > 0);
  return set.length === 0 ? undefined : Object.fromEntries(set);
}

/**
 * Returns the limit of a resource. CPU never exceeds the containers' sum; memory may, unless it must equal the request.
 */
function limitFor({ name, limit, least }: Need, isEqual: boolean, total: number | undefined): number | undefined {
  if (total === undefined) return undefined;
  // as long as the copy is there it is the pod's, beside what the containers may take
  if (name === "ephemeral-storage") return total + limit;
  return isEqual || name === "cpu" ? Math.max(least, Math.min(limit, total)) : limit;
}

type Resources = { readonly requests?: Amounts; readonly limits?: Amounts };

/** Adds up an amount over all containers; undefined if one of them does not set it. */
function totalOf({ containers }: Pod["spec"], amountOf: (of: Resources) => unknown): number | undefined {
  const amounts = containers.map(({ resources }) => parseQuantity(amountOf(resources ?? {})));
  return amounts.reduce((sum, amount) => (sum === undefined || amount === undefined ? undefined : sum + amount), 0);
}

/** Reports whether the pod's QoS class is Guaranteed (Kubernetes: pkg/apis/core/v1/helper/qos). */
function isGuaranteedPod({ containers, initContainers }: Pod["spec"]): boolean {
  return [...containers, ...(initContainers ?? [])].every(({ resources }) =>
    ["cpu", "memory"].every((name) => {
      const limit = parseQuantity(resources?.limits?.[name]) ?? 0;
      return limit > 0 && (parseQuantity(resources?.requests?.[name]) ?? limit) === limit;
    }),
  );
}

function textOf({ name }: Need, amount: number): string {
  // Kubernetes knows no less than 1m
  if (name === "cpu") return amount % 1 === 0 ? String(amount) : `${Math.max(1, Math.round(amount * 1000))}m`;
  return amount % MiB === 0 ? `${amount / MiB}Mi` : String(Math.floor(amount));
}
