import { boolean } from "../../../shared/cli/core/syntax.ts";
import { parseObject, textOf } from "../../../shared/core/json.ts";
import { baseName } from "../../../shared/core/text.ts";
import type { Container, PodTemplate, Texts } from "../../api/core/objects.ts";
import { ASK, INSTALL, isNamed, STATUS, VOLUME } from "./annotation-names.ts";
import { skippedIn } from "./skipped.ts";

// The reaper needs this file alone, without the code that changes pods.

/**
 * Whether a pod has ebb, and from which image (undefined if that is not known). `isAsked`: its own annotation asks for
 * ebb. `skipped`: why the webhook left it as it is, although it was selected.
 */
export type Presence =
  | { readonly kind: "absent"; readonly isAsked: boolean; readonly skipped?: string }
  | { readonly kind: "present"; readonly image: string | undefined };

/**
 * Returns whether a pod has ebb: put there, as its annotation ebb.dev/status says, and from which image; or its own, if
 * a container's command starts a program called ebb.
 */
export function presenceOf({ metadata = {}, spec }: PodTemplate): Presence {
  const status = metadata.annotations?.[STATUS];
  const skipped = skippedIn(status);
  if (status === undefined || skipped !== undefined) {
    if (spec.containers.some((each) => ebbStartedBy(each) !== undefined)) return { kind: "present", image: undefined };
    const isAsked = requestedBy(metadata, { label: undefined, all: false }) !== undefined;
    return { kind: "absent", isAsked, ...(skipped === undefined ? {} : { skipped }) };
  }
  const copies = spec.initContainers?.find(isNamed(INSTALL));
  const volume = spec.volumes?.find(isNamed(VOLUME));
  // another webhook may have moved the image of ebb-install to a mirror since
  const { ebb } = parseObject(status) ?? {};
  return { kind: "present", image: textOf(ebb) ?? copies?.image ?? volume?.image?.reference };
}

/** Returns the path of ebb if a container's command starts it, by that name. */
export function ebbStartedBy({ command: [program = ""] = [] }: Container): string | undefined {
  return baseName(program) === "ebb" ? program : undefined;
}

/**
 * Returns by what ebb is requested in a pod: its annotation, its namespace's label or --all. Returns undefined if it is
 * not requested. `label` is ebb.dev/inject of the namespace, whose `false` rules out the others; `all` is whether the
 * webhook has --all.
 */
export function requestedBy(
  { annotations }: { readonly annotations?: Texts },
  { label, all }: { readonly label: string | undefined; readonly all: boolean },
): "annotation" | "namespace" | "--all" | undefined {
  const wish = annotations?.[ASK];
  if (label === "false") return undefined;
  if (wish !== undefined) return boolean.parse(wish) === true ? "annotation" : undefined;
  if (label === "true") return "namespace";
  return all ? "--all" : undefined;
}
