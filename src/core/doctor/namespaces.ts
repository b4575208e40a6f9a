import { type JsonObject, objectOf } from "../base/json.ts";
import { nearest } from "../cli/suggestion.ts";
import { boolean } from "../cli/syntax.ts";
import { ASK, isEbbKey, PREFIX } from "../inject/marks.ts";
import { REAP } from "../reap/policy.ts";
import type { Finding } from "./finding.ts";
import type { Webhooks } from "./registrations.ts";

/** Finds what is wrong with a namespace's label ebb.dev/reap: no reaper is installed, or the value is neither true nor false. */
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
 * Finds what is wrong with a namespace's label ebb.dev/inject: no webhook is registered, or the value is neither true nor false.
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

/** Finds labels and annotations of ebb on a namespace that nobody reads there. */
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
