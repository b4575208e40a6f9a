import { type JsonObject, objectOf } from "../base/json.ts";
import { nearest } from "../cli/suggestion.ts";
import { boolean } from "../cli/syntax.ts";
import { ASK, isEbbKey, PREFIX } from "../inject/annotation-names.ts";
import { REAP } from "../reap/policy.ts";
import type { Finding } from "./finding.ts";
import type { Webhooks } from "./registrations.ts";

/**
 * Returns a finding if a namespace's label ebb.dev/reap, with the value `label`, does nothing: it is true and no reaper
 * is installed, or it is neither true nor false. Returns undefined otherwise.
 */
export function reapLabelFinding(name: string, label: string, hasReaper: boolean): Finding | undefined {
  if (boolean.parse(label) === true && !hasReaper) {
    const message = `its label ${REAP}=true asks for the reaper, and none is installed: install it (ebb manifests reaper), or kubectl label namespace ${name} ${REAP}-`;
    return { object: `Namespace ${name}`, message };
  }
  if (boolean.parse(label) !== undefined) return undefined;
  const message = `its label ${REAP} does nothing: expected true or false, got ${JSON.stringify(label)}`;
  return { object: `Namespace ${name}`, message };
}

/**
 * Returns a finding if a namespace's label ebb.dev/inject, with the value `label`, does nothing: it is true and no
 * webhook is registered, or it is neither true nor false. Returns undefined otherwise, or if it is not known how many
 * webhooks there are.
 */
export function namespaceFinding(name: string, label: string, { count }: Pick<Webhooks, "count">): Finding | undefined {
  if (label === "true" && count === 0) {
    const message = `its label ebb.dev/inject=true asks for ebb, and no webhook is registered: install it (ebb manifests webhook), or kubectl label namespace ${name} ebb.dev/inject-`;
    return { object: `Namespace ${name}`, message };
  }
  if (label === "true" || label === "false") return undefined;
  const message = `its label ebb.dev/inject does nothing: expected true or false, got ${JSON.stringify(label)}`;
  return { object: `Namespace ${name}`, message };
}

/**
 * Returns a finding for each label of ebb's on a namespace that looks like a misspelt one, and for each annotation of
 * ebb's: on a namespace only the labels ebb.dev/inject and ebb.dev/reap have an effect.
 */
export function misplacedInNamespace({ metadata }: JsonObject): readonly Finding[] {
  const { name, labels, annotations } = objectOf(metadata);
  const object = `Namespace ${name}`;
  const known = [ASK, REAP];
  const findings: Finding[] = [];
  for (const label of Object.keys(objectOf(labels))) {
    if (!isEbbKey(label) || known.includes(label)) continue;
    const near = nearest(
      label.slice(PREFIX.length),
      known.map((each) => each.slice(PREFIX.length)),
    );
    if (near === undefined) continue; // somebody's own, for --namespace-selector
    findings.push({ object, message: `its label ${label} does nothing; did you mean ${PREFIX}${near}?` });
  }
  for (const [annotation, value] of Object.entries(objectOf(annotations))) {
    if (!isEbbKey(annotation)) continue;
    const isLabel = known.includes(annotation);
    const how = isLabel ? `: it is a label of a namespace: kubectl label namespace ${name} ${annotation}=${value}` : "";
    findings.push({ object, message: `its annotation ${annotation} does nothing${how}` });
  }
  return findings;
}
