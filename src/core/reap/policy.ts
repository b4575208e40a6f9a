import { boolean } from "../cli/syntax.ts";
import type { MethodKind } from "./methods.ts";
import type { PodView } from "./pod-view.ts";
import type { Right } from "./rights.ts";

/** Which pods the reaper takes, and how it may end their sidecars. */
export interface ReapPolicy {
  /** Milliseconds that the last app container must have ended before. */
  readonly afterMs: number;
  /** Those of Jobs are taken too, without a word of their own. */
  readonly allJobs: boolean;
  /** Judges a pod as if it were selected, for the table of those that are not. */
  readonly asIfSelected?: true;
  /** In the order in which they are tried. */
  readonly methods: readonly MethodKind[];
  /** Commands that pods name in annotations are run in them. */
  readonly allowsReapExec: boolean;
  /** Of ephemeral containers. */
  readonly image?: string | undefined;
  /** What the reaper's account may not do. */
  readonly missing?: readonly Right[];
  /** What the namespaces themselves say with ebb.dev/reap, by their names; those that say nothing are left out. */
  readonly namespaces: ReadonlyMap<string, string>;
}

/** The label or annotation of pods, and the label of namespaces. */
export const REAP = "ebb.dev/reap";

export type Selection =
  | { readonly kind: "in" | "not in"; readonly reason: string }
  | { readonly kind: "out"; readonly reason: string }
  | { readonly kind: "unreadable"; readonly reason: string };

/** Whether the reaper is to look after a pod. Who says no, wherever that is, wins. */
export function selectionOf(pod: PodView, policy: ReapPolicy): Selection {
  const said = wordsOf(pod, policy);
  const out = said.find(({ text }) => boolean.parse(text) === false);
  if (out !== undefined) return { kind: "out", reason: `${out.by} says ${REAP}: ${JSON.stringify(out.text)}` };
  const odd = said.find(({ text }) => boolean.parse(text) === undefined);
  if (odd !== undefined) {
    const by = isFromNamespace(odd.by) ? `${odd.by}: its label` : odd.by;
    return { kind: "unreadable", reason: `${by} ${REAP}: expected true or false, got ${JSON.stringify(odd.text)}` };
  }
  const yes = said[0];
  if (yes !== undefined) return { kind: "in", reason: `${yes.by} says ${REAP}: ${JSON.stringify(yes.text)}` };
  if (policy.allJobs && pod.job !== undefined) return { kind: "in", reason: `it is of Job ${pod.job} (--all-jobs)` };
  if (policy.asIfSelected === true) return { kind: "in", reason: "nobody has to choose it" };
  return {
    kind: "not in",
    reason: `neither it nor its namespace says ${REAP}: "true"${policy.allJobs ? ", and it is no Job's" : ""}`,
  };
}

const OF_NAMESPACE = "namespace ";

/** Whether the reason of a choice is what the namespace says, and not the pod. */
export function isFromNamespace(reason: string): boolean {
  return reason.startsWith(OF_NAMESPACE);
}

function wordsOf({ labels, annotations, namespace }: PodView, { namespaces }: ReapPolicy) {
  const words = [
    { by: "its label", text: labels.get(REAP) },
    { by: "its annotation", text: annotations.get(REAP) },
    { by: `${OF_NAMESPACE}${namespace}`, text: namespaces.get(namespace) },
  ];
  return words.flatMap(({ by, text }) => (text === undefined ? [] : [{ by, text }]));
}
