import * as z from "zod/mini";
import { type JsonObject, objectOf, withField, withoutField } from "../base/json.ts";
import { EBB, EBB_FOLDER, unwrap } from "./container/command.ts";
import { optionNamed, problemOf } from "./container/options.ts";
import { annotationFolders } from "./container/volumes.ts";
import { INSTALL, STATUS } from "./marks.ts";
import { annotationField, type Container, type Mount, type Pod } from "./pod.ts";
import type { Remark } from "./remark.ts";

/** The annotation that tells `auto` detection which sidecars of a pod are native: no injector's annotation says it. */
export const NATIVE = "ebb.dev/native";
/** The command of the init container that copies ebb. */
export const installCommand: readonly string[] = ["/ebb", "install", EBB];

/** What was changed in one container. */
const containerStatus = z.object({
  /**
   * How the command was changed. `wrapped`: ebb stands before it. `tool`: ebb stands in the place of another tool.
   * `entrypoint`: there was no command.
   */
  command: z.optional(z.enum(["wrapped", "tool", "entrypoint"])),
  /** The path of that tool. */
  tool: z.optional(z.string()),
  /** The names of the variables that were added. */
  env: z.optional(z.array(z.string())),
  /** Whether a preStop hook was added. */
  hook: z.optional(z.boolean()),
});

const status = z.object({
  containers: z.record(z.string(), containerStatus),
  /** The names of the volumes that were added. */
  volumes: z.optional(z.array(z.string())),
  /** The value of ebb.dev/native, if ebb has written that annotation. */
  native: z.optional(z.string()),
  /** Options that came from the policy, not from the pod's annotations. */
  options: z.optional(z.record(z.string(), z.string())),
});

/** What ebb.dev/status records: all that ebb has put into a pod. */
export type Status = z.infer<typeof status>;
export type ContainerStatus = z.infer<typeof containerStatus>;

/**
 * Parses the text of ebb.dev/status. Returns undefined if `text` is undefined, and a Remark if it is malformed. Never
 * throws.
 */
export function readStatus(text: string | undefined): Status | undefined | Remark {
  if (text === undefined) return undefined;
  try {
    return status.parse(JSON.parse(text));
  } catch {
    return { field: annotationField(STATUS), message: "expected what ebb has written there: remove it" };
  }
}

/** What an earlier injection knew and the pod without ebb does not tell. */
export interface FormerSettings {
  /** Options of the policy, by flag. */
  readonly options: ReadonlyMap<string, string>;
  /** What images start, by the container's name. */
  readonly entrypoints: ReadonlyMap<string, readonly string[]>;
}

/** A pod as it was before ebb was put into it. */
export interface Former {
  readonly pod: Pod;
  readonly known: FormerSettings;
}

/**
 * Returns a copy of the pod without what ebb has put into it, and the settings that only the status tells. Anybody may
 * have written the status, so only what looks like ebb's own is removed, whatever the status says.
 */
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

/**
 * Reports whether an option of the status is one that ebb could have written: others may have edited the annotation.
 */
function isValid([flag, text]: readonly [string, string]): boolean {
  const option = optionNamed(flag);
  return option !== undefined && problemOf(option, text) === undefined;
}

/** Reports whether an init container is the one with which ebb copies itself. */
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
  /** The names of the volumes that are removed. */
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
 * Reports whether ebb added a mount: it is as ebb writes it, and the container's status says that ebb was added. Others
 * may mount there, too.
 */
function isOurMount({ mountPath, readOnly }: Mount, { command, hook }: ContainerStatus): boolean {
  if (readOnly !== true) return false;
  return mountPath === EBB_FOLDER ? command !== undefined || hook === true : annotationFolders.includes(mountPath);
}

interface Rest {
  readonly was: readonly unknown[] | null | undefined;
  readonly rest: readonly unknown[] | undefined;
}

/** Returns the object with what is left of a list, or without the field if nothing is left. */
function withRest(object: JsonObject, name: string, { was, rest }: Rest): JsonObject {
  if (rest === undefined || rest.length === was?.length) return object;
  return rest.length === 0 ? withoutField(object, name) : withField(object, name, rest);
}

/** Returns the object with an inner object, or without the field if that is empty. */
function withOrWithout(object: JsonObject, name: string, inner: JsonObject): JsonObject {
  return Object.keys(inner).length === 0 ? withoutField(object, name) : withField(object, name, inner);
}
