import { isObject, type Path, valueAt } from "../../../../shared/core/json.ts";
import { NATIVE } from "../../../../shared/sidecars/core/kinds/native.ts";
import { ANNOTATIONS, APPS, INSTALL, isNumbered, LOCAL_VOLUMES, STATUS, VOLUME } from "../annotation-names.ts";
import { EBB, EBB_FOLDER } from "../facts/command.ts";
import { kindOfHook } from "../facts/existing-hooks.ts";
import type { Former, FormerWords, TrackedImage } from "../facts/former-injection.ts";
import { isExemption } from "../orchestrators/registry.ts";
import { annotationFolders, installCommand, isAppsMount } from "../own-parts.ts";
import type { Container, Mount, Pod } from "../pod.ts";
import { annotationOptions, problemOf } from "../pod-annotations.ts";
import { addedTo, type ContainerRecord, type Empty, type Status } from "./status.ts";
import { unwrap } from "./wrap.ts";

/**
 * Takes out of a pod, in place, what ebb has put there. Anybody may have written the status, so only what looks like
 * ebb's own is removed, whatever the status says.
 */
export function undoEdits(pod: Pod, status: Status): Former {
  const { containers, volumes = [], options = {} } = status;
  const former = new Map<string, FormerWords>();
  const gone = new Set(volumes.filter(isOwnVolume));
  for (const container of pod.spec.containers) {
    const own = Object.hasOwn(containers, container.name) ? containers[container.name] : undefined;
    if (own === undefined) continue;
    const words = restoreCommand(container, own);
    if (own.command === "entrypoint" && words !== undefined)
      former.set(container.name, { words, image: trackedImage(own) });
    const added = new Set(own.env);
    drop(container, "env", ({ name }) => name.startsWith("EBB_") && added.has(name));
    drop(
      container,
      "volumeMounts",
      (mount) => gone.has(mount.name) && (isOurMount(mount, own) || isAppsMount(mount, container.name)),
    );
    restoreHook(container, own);
    putBack(container, addedTo.container, own.empty);
  }
  const isOurs = (one: Container) => isInstall(one) && one.volumeMounts?.some(({ name }) => gone.has(name)) === true;
  const installs = (pod.spec.initContainers ?? []).filter(isOurs);
  const own = { installs, volumes: (pod.spec.volumes ?? []).filter(({ name }) => gone.has(name)) };
  drop(pod.spec, "initContainers", isOurs);
  makeOrdinary(pod, status.moved ?? {});
  drop(pod.spec, "volumes", ({ name }) => gone.has(name));
  removeAnnotations(pod, status);
  if (status.empty?.annotations !== undefined) pod.metadata ??= {};
  putBack(pod, addedTo.pod, status.empty);
  return { options: new Map(Object.entries(options).filter(isValid)), words: former, ...own };
}

/** Takes ebb out of a command. Returns what ebb started; undefined if the command does not begin with ebb. */
function restoreCommand(container: Container, { command, tool }: ContainerRecord): string[] | undefined {
  const words = unwrap(container.command ?? [], tool);
  if (command === undefined) return words;
  if (words === undefined) restoreInner(container, tool);
  else if (command === "entrypoint") delete container.command;
  else container.command = words;
  return words;
}

/**
 * Takes ebb out of what another webhook's program starts. The command is that program, and the former command is among
 * its args (bank-vaults/vault-secrets-webhook 14c3042, pkg/webhook/pod.go, mutateContainers). Or the program is a shell,
 * and the former command, joined by blanks, begins its script; one that is a shell's itself stays as it is, and so has no
 * other shell around it (katib v0.19.0, pkg/webhook/v1beta1/pod/utils.go, wrapWorkerContainer).
 */
function restoreInner(container: Container, tool: string | undefined): void {
  const { command = [], args } = container;
  const script = unwrap(firstWords(args?.[0] ?? ""), tool);
  if (script !== undefined && isShell(command ?? [])) {
    if (isShell(script)) container.command = script.splice(0, 2);
    container.args = [script.join(" ")];
    return;
  }
  for (const field of ["command", "args"] as const) {
    const words = container[field] ?? [];
    const at = words.indexOf(EBB);
    const unwrapped = at < 0 ? undefined : unwrap(words.slice(at), tool);
    if (unwrapped !== undefined) container[field] = [...words.slice(0, at), ...unwrapped];
  }
}

/** Returns as many words of a script as may be ebb's and a shell's, and the rest as it is: it may be long. */
function firstWords(script: string): readonly string[] {
  const words = script.split(" ", 5);
  const { length } = words.join(" ");
  return length < script.length ? [...words, script.slice(length + 1)] : words;
}

function isShell([program = "", flag]: readonly string[]): boolean {
  return ["sh", "bash"].includes(program) && flag === "-c";
}

function trackedImage({ image }: ContainerRecord): TrackedImage | undefined {
  return image && { name: image.name, hasCmd: image.cmd === true, stopSignal: image.stopSignal };
}

/**
 * Reports whether ebb added a mount: it is as ebb writes it, and the container's status says that ebb was added. Others
 * may mount there, too.
 */
function isOurMount({ mountPath, readOnly }: Mount, { command, hook, unwrapped }: ContainerRecord): boolean {
  if (readOnly !== true) return false;
  if (mountPath !== EBB_FOLDER) return annotationFolders.includes(mountPath);
  return command !== undefined || hook === true || unwrapped !== undefined;
}

/** Takes ebb's hook out, and puts back the one that was there before. */
function restoreHook(container: Container, { hook, preStop }: ContainerRecord): void {
  const { lifecycle } = container;
  const isOurs = hook === true && lifecycle?.preStop?.exec?.command?.[0] === EBB;
  const isGone = hook !== true && lifecycle?.preStop == null;
  if (preStop !== undefined && (isOurs || isGone) && mayReplace(preStop)) {
    container.lifecycle = { ...lifecycle, preStop };
    return;
  }
  if (!isOurs) return;
  delete lifecycle.preStop;
  if (Object.keys(lifecycle).length === 0) delete container.lifecycle;
}

/** Reports whether a hook is one that ebb may have replaced, or taken out. */
function mayReplace(hook: ContainerRecord["preStop"]): boolean {
  const actions = Object.values(hook ?? {}).filter((action) => action != null);
  if (actions.length === 0) return true;
  return actions.length === 1 && ["replaceable", "waits-for-apps"].includes(kindOfHook(hook).kind);
}

/** Reports whether an init container copies ebb. A pod may have one of its own. */
function isInstall({ name, command }: Container): boolean {
  return isNumbered(name, INSTALL) && JSON.stringify(command) === JSON.stringify(installCommand);
}

/** Puts native sidecars that ebb has made back among the containers of a pod, in place. `moved`: their places there. */
function makeOrdinary({ spec }: Pod, moved: Readonly<Record<string, number>>): void {
  const places = Object.entries(moved).sort(([, a], [, b]) => a - b);
  for (const [name, at] of places) {
    const native = spec.initContainers?.find((one) => one.name === name && one.restartPolicy === "Always");
    if (native === undefined) continue;
    const { restartPolicy: _, ...container } = native;
    spec.initContainers = spec.initContainers?.filter((one) => one !== native);
    spec.containers.splice(at, 0, container as Container);
  }
  if (places.length > 0 && spec.initContainers?.length === 0) delete spec.initContainers;
}

function isOwnVolume(name: string): boolean {
  return [VOLUME, ANNOTATIONS, APPS].some((base) => isNumbered(name, base));
}

function removeAnnotations(pod: Pod, status: Status): void {
  const { native, formerNative, annotations: added = [], localVolumes = [] } = status;
  const { annotations } = pod.metadata ?? {};
  if (!pod.metadata || !annotations) return;
  delete annotations[STATUS];
  if (native !== undefined && annotations[NATIVE] === native) {
    if (formerNative === undefined) delete annotations[NATIVE];
    else annotations[NATIVE] = formerNative;
  }
  const named = annotations[LOCAL_VOLUMES]?.split(",") ?? [];
  const others = named.filter((name) => !localVolumes.includes(name) || !isOwnVolume(name));
  if (others.length > 0) annotations[LOCAL_VOLUMES] = others.join(",");
  else delete annotations[LOCAL_VOLUMES];
  for (const name of added) if (isExemption(name, annotations[name] ?? "")) delete annotations[name];
  if (Object.keys(annotations).length === 0) delete pod.metadata.annotations;
  if (Object.keys(pod.metadata).length === 0) delete pod.metadata;
}

/** Puts back fields that had nothing in them, and that are not there any more. */
function putBack(object: Pod | Container, fields: readonly Path[], empty: Empty = {}): void {
  for (const path of fields) {
    const [name, holder] = [String(path.at(-1)), valueAt(object, path.slice(0, -1))];
    if (Object.hasOwn(empty, name) && isObject(holder) && !Object.hasOwn(holder, name))
      Object.assign(holder, { [name]: valueOfEmpty(empty[name]) });
  }
}

function valueOfEmpty(written: unknown): unknown {
  if (typeof written !== "string") return written;
  if (written.includes("[")) return [];
  return written.includes("{") ? {} : null;
}

type Item<L> = L extends readonly (infer T)[] ? T : never;

/** Removes items from a list, and the list if none is left. */
function drop<O extends object, K extends keyof O>(object: O, name: K, isDropped: (item: Item<O[K]>) => boolean): void {
  const list = (object[name] ?? []) as Item<O[K]>[];
  const rest = list.filter((item) => !isDropped(item));
  if (rest.length === 0 && list.length > 0) delete object[name];
  else if (rest.length < list.length) object[name] = rest as O[K];
}

/**
 * Reports whether an option of the status is one that ebb could have written: others may have edited the annotation.
 */
function isValid([flag, text]: readonly [string, string]): boolean {
  const option = annotationOptions.get(flag);
  return option !== undefined && problemOf(option, text) === undefined;
}
