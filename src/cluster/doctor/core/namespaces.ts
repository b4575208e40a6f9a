import type { Texts } from "../../api/core/objects.ts";
import { ASK } from "../../inject/core/annotation-names.ts";
import type { Finding } from "./finding.ts";
import type { Webhooks } from "./installation.ts";
import { coversNamespace, OUTSIDE } from "./selection.ts";

/**
 * Returns a finding for a namespace whose label ebb.dev/inject asks for ebb in vain: no webhook is registered, or none
 * covers it, or its value is neither true nor false. Returns undefined if it does not ask, or gets ebb.
 */
export function namespaceFinding(
  name: string,
  labels: Texts,
  { count, selections }: Pick<Webhooks, "count" | "selections">,
): Finding | undefined {
  const label = labels[ASK];
  if (label === undefined || label === "false") return undefined;
  const object = `Namespace ${name}`;
  // the API server compares this label as text
  if (label !== "true")
    return { object, message: `its label ${ASK} does nothing: expected true or false, got ${JSON.stringify(label)}` };
  const asks = `its label ${ASK}=true asks for ebb, and`;
  if (count === 0) {
    const todo = `install it (ebb help webhook), or kubectl label namespace ${name} ${ASK}-`;
    return { object, message: `${asks} no webhook is registered: ${todo}` };
  }
  const isOutside = selections.length > 0 && !selections.some((each) => coversNamespace(each, labels));
  return isOutside ? { object, message: `${asks} ${OUTSIDE}` } : undefined;
}
