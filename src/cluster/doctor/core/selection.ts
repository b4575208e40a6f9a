import type { LabelSelector, PodTemplate, Selectors, Texts } from "../../api/core/objects.ts";
import { ASK } from "../../inject/core/annotation-names.ts";
import { requestedBy } from "../../inject/core/presence.ts";

/** Which pods one of ebb's webhooks is asked about, by its registration; and whether it runs with --all. */
export interface Selection extends Selectors {
  readonly all: boolean;
}

/**
 * Returns by what ebb is requested in a pod (`requestedBy`), and whether a webhook's selectors cover the pod: they do if
 * there are no selections. A pod that they leave out is requested by its annotation alone. `namespace` has the labels
 * of its namespace; undefined if they are not known.
 */
export function requestOf(
  { metadata = {} }: Pick<PodTemplate, "metadata">,
  namespace: Texts | undefined,
  selections: readonly Selection[],
) {
  const covering = selections.filter(
    (each) => coversNamespace(each, namespace) && selects(each.objectSelector, metadata.labels),
  );
  const all = covering.some((each) => each.all);
  const by = requestedBy(metadata, { label: namespace?.[ASK], all });
  const isCovered = selections.length === 0 || covering.length > 0;
  return { by: isCovered || by === "annotation" ? by : undefined, isCovered };
}

/** Why a pod or a namespace that asks gets no ebb, and what to do. */
export const OUTSIDE =
  "no selector of the webhook covers it (objectSelector, namespaceSelector; never kube-system or the webhook's own namespace): change that, or the labels";

/** Reports whether a webhook is asked about pods of a namespace with these labels; it is if they are not known. */
export function coversNamespace({ namespaceSelector }: Selection, labels: Texts | undefined): boolean {
  return labels === undefined || selects(namespaceSelector, labels);
}

/** Reports whether a label selector selects an object with these labels; without requirements it selects all. */
export function selects({ matchLabels = {}, matchExpressions = [] }: LabelSelector = {}, labels: Texts = {}): boolean {
  const isMet = matchExpressions.every(({ key, operator, values = [] }) => {
    const value = labels[key];
    if (operator === "Exists") return value !== undefined;
    if (operator === "DoesNotExist") return value === undefined;
    return (value !== undefined && values.includes(value)) === (operator === "In"); // NotIn: also without the label
  });
  return isMet && Object.entries(matchLabels).every(([key, value]) => labels[key] === value);
}
