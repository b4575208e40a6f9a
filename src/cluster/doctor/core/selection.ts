import { type JsonObject, listOf, objectOf, textOf } from "../../../shared/core/json.ts";
import { ASK } from "../../inject/core/annotation-names.ts";
import { requestedBy } from "../../inject/core/presence.ts";

/** Which pods one of ebb's webhooks is asked about, by its registration; and whether it runs with --all. */
export interface Selection {
  readonly namespaceSelector?: unknown;
  readonly objectSelector?: unknown;
  readonly all: boolean;
}

/**
 * Returns by what ebb is requested in a pod (`requestedBy`), and whether a webhook's selectors cover the pod: they do if
 * there are no selections. A pod that they leave out is requested by its annotation alone. `namespace` has the labels
 * of its namespace; undefined if they are not known.
 */
export function requestOf(pod: JsonObject, namespace: JsonObject | undefined, selections: readonly Selection[]) {
  const { labels } = objectOf(pod.metadata);
  const covering = selections.filter(
    (each) => coversNamespace(each, namespace) && selects(each.objectSelector, labels),
  );
  const all = covering.some((each) => each.all);
  const by = requestedBy(pod, { label: textOf(namespace?.[ASK]), all });
  const isCovered = selections.length === 0 || covering.length > 0;
  return { by: isCovered || by === "annotation" ? by : undefined, isCovered };
}

/** Why a pod or a namespace that asks gets no ebb, and what to do. */
export const OUTSIDE =
  "no selector of the webhook covers it (objectSelector, namespaceSelector; never kube-system or the webhook's own namespace): change that, or the labels";

/** Reports whether a webhook is asked about pods of a namespace with these labels; it is if they are not known. */
export function coversNamespace({ namespaceSelector }: Selection, labels: JsonObject | undefined): boolean {
  return labels === undefined || selects(namespaceSelector, labels);
}

/** Reports whether a label selector selects an object with these labels; without requirements it selects all. */
export function selects(selector: unknown, labels: unknown): boolean {
  const { matchLabels, matchExpressions } = objectOf(selector);
  const own = objectOf(labels);
  const meets = ({ key, operator, values }: JsonObject): boolean => {
    const value = own[String(key)];
    if (operator === "Exists") return value !== undefined;
    if (operator === "DoesNotExist") return value === undefined;
    return listOf(values).includes(value) === (operator === "In"); // NotIn: also without the label
  };
  return (
    Object.entries(objectOf(matchLabels)).every(([key, value]) => own[key] === value) &&
    listOf(matchExpressions).map(objectOf).every(meets)
  );
}
