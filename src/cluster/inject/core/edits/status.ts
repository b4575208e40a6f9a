import * as z from "zod/mini";
import type { Path } from "../../../../shared/core/json.ts";
import { annotationField, STATUS } from "../annotation-names.ts";
import { starterOf } from "../facts/command.ts";
import type { TrackedImage } from "../facts/former-injection.ts";
import { hook, type Remark } from "../pod.ts";
import { skippedIn } from "../skipped.ts";

/**
 * The fields that ebb has added to although there was nothing in them, and their values: null, [] or {}. A text where a
 * manifest has it otherwise than ebb would write it (`emptyTextAt` in yaml/written.ts): `\n  []`.
 */
const empty = z.optional(z.record(z.string(), z.union([z.null(), z.array(z.never()), z.strictObject({}), z.string()])));
export type Empty = z.infer<typeof empty>;

/** The paths to the fields that ebb adds to: of a pod, and of each container. Their last names are their keys in `empty`. */
export const addedTo: Readonly<Record<"pod" | "container", readonly Path[]>> = {
  pod: [["metadata"], ["metadata", "annotations"], ["spec", "volumes"], ["spec", "initContainers"]],
  container: [["command"], ["env"], ["volumeMounts"], ["lifecycle"], ["lifecycle", "preStop"]],
};

/** What was changed in one container. */
const containerRecord = z.object({
  /**
   * How the command was changed. `wrapped`: ebb stands before it. `tool`: ebb stands in the place of another tool.
   * `entrypoint`: there was no command.
   */
  command: z.optional(z.enum(["wrapped", "tool", "entrypoint"])),
  /** The path of that tool. */
  tool: z.optional(z.string()),
  /** The image whose command a registry told, if the user did not. */
  image: z.optional(
    z.object({
      /** As the manifest named it. */
      name: z.string(),
      /** Whether its CMD is in the command, because there were no args. */
      cmd: z.optional(z.boolean()),
      /** Its STOPSIGNAL. */
      stopSignal: z.optional(z.string()),
    }),
  ),
  /** Why ebb does not start the container: nobody knew its command, or that must stay. */
  unwrapped: z.optional(z.string()),
  /** The names of the variables that were added. */
  env: z.optional(z.array(z.string())),
  /** Whether a preStop hook was added. */
  hook: z.optional(z.boolean()),
  /** The hook that was there before, and was replaced, or taken out: it only slept, or kept a proxy, or did nothing. */
  preStop: z.optional(z.nullable(hook)),
  empty,
});

const status = z.object({
  containers: z.record(z.string(), containerRecord),
  /** The names of the volumes that were added. */
  volumes: z.optional(z.array(z.string())),
  /** The image that has ebb. */
  ebb: z.optional(z.string()),
  /** The value of ebb.dev/native, if ebb has written that annotation. */
  native: z.optional(z.string()),
  /** The value that it had before, if any. */
  formerNative: z.optional(z.string()),
  /** The containers that became native sidecars: the index that each had, by its name. */
  moved: z.optional(z.record(z.string(), z.number())),
  /** The names of other annotations that were added. */
  annotations: z.optional(z.array(z.string())),
  /** The names of volumes that were added to Cluster Autoscaler's annotation. */
  localVolumes: z.optional(z.array(z.string())),
  /** Options that came from the policy, not from the pod's annotations. */
  options: z.optional(z.record(z.string(), z.string())),
  /** Of the pod, its metadata and its spec. */
  empty,
});

/** What ebb.dev/status records: all that ebb has put into a pod. */
export type Status = z.infer<typeof status>;
export type ContainerRecord = z.infer<typeof containerRecord>;

/**
 * Parses the text of ebb.dev/status. Returns undefined if `text` is undefined, and a Remark if it is malformed. Nothing
 * was put into a pod that the webhook skipped. Never throws.
 */
export function readStatus(text: string | undefined): Status | undefined | Remark {
  if (text === undefined) return undefined;
  if (skippedIn(text) !== undefined) return { containers: {} };
  try {
    return status.parse(JSON.parse(text));
  } catch {
    return {
      field: annotationField(STATUS),
      message:
        "expected what ebb has written there: put that back, for example from Git; or take ebb out by hand, and remove this",
    };
  }
}

/** Writes the text of ebb.dev/status. */
export function formatStatus(status: Status): string {
  const { volumes, ebb, native, formerNative, moved, annotations, localVolumes, options, empty } = status;
  const containers = Object.entries(status.containers).map(
    ([name, { command, tool, env, hook, preStop, image, unwrapped, empty }]) =>
      [name, { command, tool, env, hook, preStop, image, unwrapped, empty }] as const,
  );
  const all = { volumes, ebb, native, formerNative, moved, annotations, localVolumes, options, empty };
  return JSON.stringify({ containers: Object.fromEntries(containers), ...all });
}

/** Returns how a container's command is changed. `before`: its words until now. */
export function commandStatus(before: readonly string[]): Pick<ContainerRecord, "command" | "tool"> {
  if (before.length === 0) return { command: "entrypoint" };
  const starter = starterOf(before);
  return starter.kind === "tool" ? { command: "tool", tool: starter.path } : { command: "wrapped" };
}

/** Returns what is recorded of the image that told a command. */
export function imageStatus({ name, hasCmd, stopSignal }: TrackedImage): NonNullable<ContainerRecord["image"]> {
  return { name, ...(hasCmd ? { cmd: true } : {}), ...(stopSignal === undefined ? {} : { stopSignal }) };
}
