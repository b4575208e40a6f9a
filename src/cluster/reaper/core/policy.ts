import { boolean } from "../../../shared/cli/core/syntax.ts";
import { EXIT, Failure } from "../../../shared/core/exit.ts";
import type { MethodKind } from "./methods.ts";
import { type PodView, REAP } from "./pod-view.ts";
import type { Right } from "./rights.ts";

/** Which pods the reaper selects, and how it may end their sidecars. */
export interface ReapPolicy {
  /** Milliseconds that must have passed since the last app container ended. */
  readonly afterMs: number;
  /** The pods of Jobs are selected without a label or annotation (--all-jobs). */
  readonly allJobs: boolean;
  /** The names of the rules that do not count. */
  readonly waived?: ReadonlySet<string>;
  /** How sidecars are ended, in the order in which it is tried. */
  readonly methods: readonly MethodKind[];
  /** Commands that pods give in annotations are run in them (--allow-reap-exec). */
  readonly allowsReapExec: boolean;
  /** The image of ephemeral containers. */
  readonly image?: string | undefined;
  /** `ephemeral` is left out of `methods` for the lack of an image alone. */
  readonly lacksImage?: boolean | undefined;
  /** The permissions that the reaper's account, or the person, lacks. */
  readonly missing?: readonly Right[];
  /** A person acts, with their kubeconfig. */
  readonly isByHand?: boolean;
  /** The value of the label ebb.dev/reap by namespace. Namespaces without the label are left out. */
  readonly namespaces: ReadonlyMap<string, string>;
}

/** The options of `ebb reaper` that make its policy. */
interface Settings {
  readonly after: number;
  readonly allJobs: boolean;
  readonly allowReapExec: boolean;
  readonly image: string | undefined;
  readonly methods: readonly MethodKind[];
}

/**
 * Returns the methods of `--methods` that can be used: without an image, `ephemeral` is left out. `isGiven` says that
 * the user has set --methods, rather than the default.
 * @throws Failure(64) if the user asked for `ephemeral` and there is no image
 */
export function usableMethods(
  { methods, image }: Pick<Settings, "methods" | "image">,
  isGiven: boolean,
): readonly MethodKind[] {
  if (image !== undefined || !methods.includes("ephemeral")) return methods;
  if (isGiven) {
    throw new Failure(
      EXIT.usage,
      "--methods: expected --image IMAGE with ephemeral, an image with ebb at /ebb, got none",
    );
  }
  return methods.filter((each) => each !== "ephemeral");
}

/** Returns the policy that these options say. `methods`: those of them that can be used. */
export function policyOf(
  settings: Settings,
  methods: readonly MethodKind[],
  namespaces: ReapPolicy["namespaces"],
): ReapPolicy {
  return {
    afterMs: settings.after,
    allJobs: settings.allJobs,
    methods,
    allowsReapExec: settings.allowReapExec,
    image: settings.image,
    lacksImage: settings.image === undefined && settings.methods.includes("ephemeral"),
    namespaces,
  };
}

/**
 * Whether the reaper is to look after a pod, and why. `out`: something says no. `unreadable`: a label or annotation is
 * neither true nor false.
 */
export type Selection =
  | { readonly kind: "in" | "not in"; readonly reason: string }
  | { readonly kind: "out"; readonly reason: string }
  | { readonly kind: "unreadable"; readonly reason: string };

/**
 * Decides whether the reaper is to look after a pod: by its label, its annotation, its namespace's label, or
 * --all-jobs. If one of them says no, that wins.
 */
export function selectionOf(pod: PodView, policy: ReapPolicy): Selection {
  const choices = choicesOf(pod, policy);
  const out = choices.find(({ text }) => boolean.parse(text) === false);
  if (out !== undefined) return { kind: "out", reason: `${out.by} says ${REAP}: ${JSON.stringify(out.text)}` };
  const odd = choices.find(({ text }) => boolean.parse(text) === undefined);
  if (odd !== undefined) {
    const by = isFromNamespace(odd.by) ? `${odd.by}: its label` : odd.by;
    return { kind: "unreadable", reason: `${by} ${REAP}: expected true or false, got ${JSON.stringify(odd.text)}` };
  }
  const yes = choices[0];
  if (yes !== undefined) return { kind: "in", reason: `${yes.by} says ${REAP}: ${JSON.stringify(yes.text)}` };
  if (policy.allJobs && pod.job !== undefined)
    return { kind: "in", reason: `it belongs to Job ${pod.job} (--all-jobs)` };
  return {
    kind: "not in",
    reason: `neither it nor its namespace has the label ${REAP}=true${policy.allJobs ? ", and it does not belong to a Job" : ""}`,
  };
}

const OF_NAMESPACE = "namespace ";

/** Reports whether a `Selection`'s reason names the namespace's label ebb.dev/reap, not the pod's own. */
export function isFromNamespace(reason: string): boolean {
  return reason.startsWith(OF_NAMESPACE);
}

function choicesOf({ label, annotations, namespace }: PodView, { namespaces }: ReapPolicy) {
  const choices = [
    { by: "its label", text: label },
    { by: "its annotation", text: annotations.get(REAP) },
    { by: `${OF_NAMESPACE}${namespace}`, text: namespaces.get(namespace) },
  ];
  return choices.flatMap(({ by, text }) => (text === undefined ? [] : [{ by, text }]));
}
