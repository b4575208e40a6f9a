import * as z from "zod/mini";
import { type JsonObject, objectOf, withField, withoutField } from "../base/json.ts";
import { EBB, EBB_FOLDER, unwrap } from "./container/command.ts";
import { optionNamed, problemOf } from "./container/options.ts";
import { annotationFolders } from "./container/volumes.ts";
import { INSTALL, STATUS } from "./marks.ts";
import { annotationField, type Container, type Mount, type Pod } from "./pod.ts";
import type { Remark } from "./remark.ts";

/** The annotation that names the sidecars of a pod that are native, for `auto`: no injector's may say it. */
export const NATIVE = "ebb.dev/native";
export const installCommand: readonly string[] = ["/ebb", "install", EBB];

const containerStatus = z.object({
  /** How its command was changed. `tool`: the executable in whose place ebb stands. `entrypoint`: there was none. */
  command: z.optional(z.enum(["wrapped", "tool", "entrypoint"])),
  tool: z.optional(z.string()),
  env: z.optional(z.array(z.string())),
  hook: z.optional(z.boolean()),
});

const status = z.object({
  containers: z.record(z.string(), containerStatus),
  volumes: z.optional(z.array(z.string())),
  native: z.optional(z.string()),
  /** Options that no annotation of the pod says. */
  options: z.optional(z.record(z.string(), z.string())),
});

export type Status = z.infer<typeof status>;
export type ContainerStatus = z.infer<typeof containerStatus>;

/**
 * Parses ebb.dev/status: what ebb has put into a pod. Undefined where there is no such annotation; a Remark where it cannot be
 * read.
 */
export function readStatus(text: string | undefined): Status | undefined | Remark {
  if (text === undefined) return undefined;
  try {
    return status.parse(JSON.parse(text));
  } catch {
    return { field: annotationField(STATUS), message: "expected what ebb has written there: remove it" };
  }
}

/** What an earlier change knew that the pod without it does not tell. */
export interface FormerSettings {
  readonly options: ReadonlyMap<string, string>;
  /** What images start, by container. */
  readonly entrypoints: ReadonlyMap<string, readonly string[]>;
}

export interface Former {
  readonly pod: Pod;
  readonly known: FormerSettings;
}

/** Returns the pod as it was before ebb was put into it. Removes only what ebb alone makes, whatever the status says. */
export function removeInjection(pod: Pod, status: Status): Former {
  const { containers, volumes = [], options = {} } = status;
  const entrypoints = new Map<string, readonly string[]>();
  const gone = new Set(volumes.filter((name) => /^ebb(-annotations)?(-\d+)?$/.test(name)));
  const former = pod.spec.containers.map((container) => {
    const own = Object.hasOwn(containers, container.name) ? containers[container.name] : undefined;
    if (own === undefined) return container;
    const words = unwrap(container.command ?? [], own.tool);
    if (own.command === "entrypoint" && words !== undefined) entrypoints.set(container.name, words);
    return formerContainer(container, { own, words, gone });
  });
  const { initContainers, volumes: all } = pod.spec;
  let spec = withField(pod.spec, "containers", former);
  spec = withRest(spec, "initContainers", {
    was: initContainers,
    rest: initContainers?.filter((init) => !isInstall(init)),
  });
  spec = withRest(spec, "volumes", { was: all, rest: all?.filter(({ name }) => !gone.has(name)) });
  const known = { options: new Map(Object.entries(options).filter(isValid)), entrypoints };
  return { pod: withoutStatus(withField(pod, "spec", spec), status) as Pod, known };
}

/** Nobody but ebb was to write it, and yet somebody can. */
function isValid([flag, text]: readonly [string, string]): boolean {
  const option = optionNamed(flag);
  return option !== undefined && problemOf(option, text) === undefined;
}

function isInstall({ name, command }: Container): boolean {
  const isNamed = new RegExp(`^${INSTALL}(-\\d+)?$`).test(name);
  return isNamed && JSON.stringify(command) === JSON.stringify(installCommand);
}

function withoutStatus(pod: JsonObject, { native }: Status): JsonObject {
  const metadata = objectOf(pod.metadata);
  const all = withoutField(objectOf(metadata.annotations), STATUS);
  const annotations = native !== undefined && all[NATIVE] === native ? withoutField(all, NATIVE) : all;
  return withOrWithout(pod, "metadata", withOrWithout(metadata, "annotations", annotations));
}

interface Own {
  readonly own: ContainerStatus;
  /** Its command without ebb. */
  readonly words: readonly string[] | undefined;
  /** The volumes that are taken out. */
  readonly gone: ReadonlySet<string>;
}

function formerContainer(container: Container, { own, words, gone }: Own): JsonObject {
  const { env, volumeMounts, lifecycle } = container;
  let former: JsonObject = container;
  if (own.command === "entrypoint" && words !== undefined) former = withoutField(former, "command");
  else if (own.command !== undefined && words !== undefined) former = withField(former, "command", words);
  const added = new Set(own.env);
  const isOurs = ({ name }: { readonly name: string }) => name.startsWith("EBB_") && added.has(name);
  former = withRest(former, "env", { was: env, rest: env?.filter((one) => !isOurs(one)) });
  former = withRest(former, "volumeMounts", {
    was: volumeMounts,
    rest: volumeMounts?.filter((mount) => !(gone.has(mount.name) && isOurMount(mount, own))),
  });
  if (own.hook !== true || lifecycle?.preStop?.exec?.command?.[0] !== EBB) return former;
  return withOrWithout(former, "lifecycle", withoutField(lifecycle, "preStop"));
}

/**
 * Whether ebb added this mount: it is as ebb writes it, and the container's status says that ebb was added. Others may mount
 * there too.
 */
function isOurMount({ mountPath, readOnly }: Mount, { command, hook }: ContainerStatus): boolean {
  if (readOnly !== true) return false;
  return mountPath === EBB_FOLDER ? command !== undefined || hook === true : annotationFolders.includes(mountPath);
}

interface Rest {
  readonly was: readonly unknown[] | null | undefined;
  readonly rest: readonly unknown[] | undefined;
}

/** With what is left of a list; without the field where nothing is. */
function withRest(object: JsonObject, name: string, { was, rest }: Rest): JsonObject {
  if (rest === undefined || rest.length === was?.length) return object;
  return rest.length === 0 ? withoutField(object, name) : withField(object, name, rest);
}

function withOrWithout(object: JsonObject, name: string, inner: JsonObject): JsonObject {
  return Object.keys(inner).length === 0 ? withoutField(object, name) : withField(object, name, inner);
}
