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
  /** A person has named the pod: it is selected unless something says no. */
  readonly isNamed?: boolean;
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
    throw new Failure(EXIT.usage, "--methods ephemeral: expected --image IMAGE, an image with ebb at /ebb");
  }
  return methods.filter((each) => each !== "ephemeral");
}

/** Returns the policy that these options say. `methods`: those of them that can be used. */
export function reapPolicyOf(
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

/** Whether the reaper is to look after a pod, and why. */
interface ReapSelection {
  /** `out`: something says no. `unreadable`: a label or annotation is neither true nor false. */
  readonly kind: "in" | "not in" | "out" | "unreadable";
  /** Whose label or annotation says so. */
  readonly by: "pod" | "namespace";
  readonly reason: string;
}

/**
 * Decides whether the reaper is to look after a pod: by its label, its annotation, its namespace's label, or
 * --all-jobs. If one of them says no, that wins.
 */
export function selectionOf(pod: PodView, policy: ReapPolicy): ReapSelection {
  const choices = choicesOf(pod, policy);
  const out = choices.find(({ text }) => boolean.parse(text) === false);
  const odd = choices.find(({ text }) => boolean.parse(text) === undefined);
  if (out === undefined && odd !== undefined) {
    const what = odd.by === "namespace" ? `${odd.what}: its label` : odd.what;
    const reason = `${what} ${REAP}: expected true or false, got ${JSON.stringify(odd.text)}`;
    return { kind: "unreadable", by: odd.by, reason };
  }
  const choice = out ?? choices[0];
  if (choice !== undefined) {
    const reason = `${choice.what} says ${REAP}: ${JSON.stringify(choice.text)}`;
    return { kind: out === undefined ? "in" : "out", by: choice.by, reason };
  }
  if (policy.isNamed) return { kind: "in", by: "pod", reason: "it was named" };
  if (policy.allJobs && pod.job !== undefined)
    return { kind: "in", by: "pod", reason: `it belongs to Job ${pod.job} (--all-jobs)` };
  return {
    kind: "not in",
    by: "pod",
    reason: `neither it nor its namespace has the label ${REAP}=true${policy.allJobs ? ", and it does not belong to a Job" : ""}`,
  };
}

function choicesOf({ label, annotations, namespace }: PodView, { namespaces }: ReapPolicy) {
  const choices = [
    { by: "pod", what: "its label", text: label },
    { by: "pod", what: "its annotation", text: annotations.get(REAP) },
    { by: "namespace", what: `namespace ${namespace}`, text: namespaces.get(namespace) },
  ] as const;
  return choices.flatMap(({ text, ...choice }) => (text === undefined ? [] : [{ ...choice, text }]));
}
