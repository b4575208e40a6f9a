import { type JsonObject, objectOf, textOf } from "../base/json.ts";
import { boolean } from "../cli/syntax.ts";
import { ASK, isEbbKey } from "../inject/annotation-names.ts";
import { REAP } from "../reap/policy.ts";
import type { Finding } from "./finding.ts";
import { coversNamespace, OUTSIDE, type Selection } from "./selection.ts";

/** What of ebb is in the cluster; true also if that is not known. */
export interface Installed {
  readonly webhook: boolean;
  readonly reaper: boolean;
  /** Which pods the webhooks are asked about. Empty if that is not known. */
  readonly selections: readonly Selection[];
}

/**
 * Returns findings for a namespace's labels ebb.dev/inject and ebb.dev/reap if they ask for what is not installed or
 * does not cover it, or are neither true nor false; and for its annotations of ebb, which nothing reads.
 */
export function namespaceFindings(
  { metadata }: JsonObject,
  { webhook, reaper, selections }: Installed,
): readonly Finding[] {
  const { name, labels, annotations } = objectOf(metadata);
  const { [ASK]: ask, [REAP]: reap } = objectOf(labels);
  const install = (label: string, component: string) =>
    `install it (ebb manifests ${component}), or kubectl label namespace ${name} ${label}-`;
  const messages: string[] = [];
  // the API server compares this label as text
  if (ask !== undefined && ask !== "true" && ask !== "false") messages.push(unread(ASK, ask));
  if (ask === "true" && !webhook)
    messages.push(`its label ${ASK}=true asks for ebb, and no webhook is registered: ${install(ASK, "webhook")}`);
  const isOutside = selections.length > 0 && !selections.some((each) => coversNamespace(each, objectOf(labels)));
  if (ask === "true" && isOutside) messages.push(`its label ${ASK}=true asks for ebb, and ${OUTSIDE}`);
  const reaps = boolean.parse(textOf(reap) ?? "");
  if (reap !== undefined && reaps === undefined) messages.push(unread(REAP, reap));
  if (reaps === true && !reaper)
    messages.push(`its label ${REAP}=true asks for the reaper, and none is installed: ${install(REAP, "reaper")}`);
  for (const [annotation, value] of Object.entries(objectOf(annotations)).filter(([key]) => isEbbKey(key))) {
    const isLabel = annotation === ASK || annotation === REAP;
    const how = isLabel ? `: it is a label of a namespace: kubectl label namespace ${name} ${annotation}=${value}` : "";
    messages.push(`its annotation ${annotation} does nothing${how}`);
  }
  return messages.map((message) => ({ object: `Namespace ${name}`, message }));
}

function unread(label: string, value: unknown): string {
  return `its label ${label} does nothing: expected true or false, got ${JSON.stringify(value)}`;
}
