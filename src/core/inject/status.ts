import * as z from "zod/mini";
import { isSame } from "../base/same.ts";
import { shortened } from "../base/text.ts";
import { annotationField, NATIVE, STATUS } from "./annotation-names.ts";
import { type App, KEPT } from "./container/app.ts";
import { starterOf } from "./container/command.ts";
import { nativeSidecarsIn } from "./container/network.ts";
import type { Moved } from "./native.ts";
import { type Container, hook, type Pod, type Remark } from "./pod.ts";
import type { InjectPolicy } from "./policy.ts";
import { skippedIn } from "./skipped.ts";

/** What was changed in one container. */
const containerStatus = z.object({
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
      /** As the manifest names it. */
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
  /** The hook that was there before, which only slept. */
  preStop: z.optional(hook),
});

const status = z.object({
  containers: z.record(z.string(), containerStatus),
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
  /** Options that came from the policy, not from the pod's annotations. */
  options: z.optional(z.record(z.string(), z.string())),
});

/** What ebb.dev/status records: all that ebb has put into a pod. */
export type Status = z.infer<typeof status>;
export type ContainerStatus = z.infer<typeof containerStatus>;

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
    return { field: annotationField(STATUS), message: "expected what ebb has written there: remove it" };
  }
}

/** What was put into a pod, by the names of its containers. */
export interface Recorded {
  /** Those whose command starts with ebb from now on. */
  readonly containers: readonly string[];
  /** Those that ebb drains, and does not start, because nobody knows their command, or that must stay. */
  readonly drained: readonly string[];
  /** Those that ebb has made native sidecars. */
  readonly natives: readonly string[];
}

/** What happened to a pod between the two that `recordStatus` compares. */
export interface Changes {
  readonly policy: InjectPolicy;
  /** What was decided for its apps. */
  readonly apps: readonly App[];
  readonly moved: Moved;
}

/**
 * Compares a pod with what it was before ebb came, but for its new native sidecars, and records in its annotations what
 * ebb has put there: ebb.dev/status, and ebb.dev/native if ebb knows native sidecars in it. Returns undefined, with no
 * annotation written, if no container was changed.
 */
export function recordStatus(pod: Pod, before: Pod, { policy, apps, moved }: Changes): Recorded | undefined {
  const { options } = policy;
  const appOf = new Map(apps.map((app) => [app.container, app]));
  const compared = pod.spec.containers.map((container, at) => {
    const changes = changesOf(before.spec.containers[at] as Container, container);
    return { name: container.name, changes, app: appOf.get(container) };
  });
  const changed = compared.filter(({ changes }) => changes !== undefined);
  if (changed.length === 0 && moved.size === 0) return undefined;
  const recorded = compared.flatMap(({ name, changes, app }) => {
    const known = app === undefined ? {} : startStatus(app);
    return changes === undefined && known.unwrapped === undefined ? [] : [[name, { ...changes, ...known }] as const];
  });
  // apps come first, then proxies, which get a hook alone
  const isApp = ([, { command, hook, unwrapped }]: (typeof recorded)[number]) =>
    command !== undefined || hook !== true || unwrapped !== undefined;
  const containers = [...recorded.filter(isApp), ...recorded.filter((one) => !isApp(one))];
  const volumes = (pod.spec.volumes ?? []).slice(before.spec.volumes?.length ?? 0).map(({ name }) => name);
  const native = nativeSidecarsIn(pod);
  const formerNative = pod.metadata?.annotations?.[NATIVE];
  const there = before.metadata?.annotations ?? {};
  const annotations = Object.keys(pod.metadata?.annotations ?? {}).filter((name) => !Object.hasOwn(there, name));
  const made: Status = {
    containers: Object.fromEntries(containers),
    ...(volumes.length === 0 ? {} : { volumes, ebb: policy.image }),
    ...(native === undefined ? {} : { native }),
    ...(native === undefined || formerNative === undefined ? {} : { formerNative }),
    ...(moved.size === 0 ? {} : { moved: Object.fromEntries(moved) }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(options.size === 0 ? {} : { options: Object.fromEntries(options) }),
  };
  pod.metadata ??= {};
  pod.metadata.annotations ??= {};
  if (native !== undefined) pod.metadata.annotations[NATIVE] = native;
  pod.metadata.annotations[STATUS] = JSON.stringify(made);
  const namesOf = (list: typeof changed) => list.map(({ name }) => name);
  return {
    containers: namesOf(changed.filter(({ changes }) => changes?.command !== undefined)),
    drained: namesOf(changed.filter(({ app }) => app?.start.kind === "unknown")),
    natives: [...moved.keys()],
  };
}

/** The longest reason that is recorded for a container. */
const LONGEST_REASON = 200;

/** Returns what is recorded of how a container starts, which a comparison does not show. */
function startStatus({ start, isUnseen }: App): Pick<ContainerStatus, "image" | "unwrapped"> {
  if (start.kind === "unknown")
    return { unwrapped: `${shortened(start.reason, LONGEST_REASON)}${isUnseen ? `; ${KEPT}` : ""}` };
  if (start.kind !== "wrapped" || start.image === undefined) return {};
  const { name, hasCmd, stopSignal } = start.image;
  return {
    image: {
      name,
      ...(hasCmd ? { cmd: true } : {}),
      ...(stopSignal === undefined ? {} : { stopSignal }),
    },
  };
}

/** Returns what was changed in a container; undefined if nothing was. */
function changesOf(before: Container, after: Container): ContainerStatus | undefined {
  if (isSame(before, after)) return undefined;
  const env = (after.env ?? []).slice(before.env?.length ?? 0).map(({ name }) => name);
  const [former, preStop] = [before.lifecycle?.preStop, after.lifecycle?.preStop];
  const isHooked = preStop != null && !isSame(former, preStop);
  return {
    ...(isSame(before.command, after.command) ? {} : commandStatus(before.command ?? [])),
    ...(env.length === 0 ? {} : { env }),
    ...(isHooked ? { hook: true } : {}),
    ...(isHooked && former != null ? { preStop: former } : {}),
  };
}

function commandStatus(before: readonly string[]): Pick<ContainerStatus, "command" | "tool"> {
  if (before.length === 0) return { command: "entrypoint" };
  const starter = starterOf(before);
  return starter.kind === "tool" ? { command: "tool", tool: starter.path } : { command: "wrapped" };
}
