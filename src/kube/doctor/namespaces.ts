import { type JsonObject, objectOf, textOf } from "../../core/base/json.ts";
import type { Finding } from "../../core/doctor/finding.ts";
import { misplacedInNamespace, namespaceFinding, reapLabelFinding } from "../../core/doctor/namespaces.ts";
import type { Webhooks } from "../../core/doctor/registrations.ts";
import { ASK, isEbbKey } from "../../core/inject/annotation-names.ts";
import { REAP } from "../../core/reap/policy.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import type { Reader } from "./read.ts";

/**
 * Reads the named namespaces, or all if none is named. Of each it keeps only the name and what is ebb's. One that may
 * not be read is left out.
 * @throws Failure 64 if one that was named does not exist
 */
export async function readNamespaces(reader: Reader, names: readonly string[]): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = [];
  const keep = ({ metadata }: JsonObject): void => {
    const { name, labels, annotations } = objectOf(metadata);
    found.push({ metadata: { name, labels: ownIn(labels), annotations: ownIn(annotations) } });
  };
  if (names.length === 0) await reader.each("/api/v1/namespaces", {}, keep);
  for (const name of names) {
    const namespace = await reader.get(`/api/v1/namespaces/${name}`);
    if (namespace === "absent")
      throw new Failure(EXIT.usage, `--namespace: there is no namespace "${name}"; kubectl get namespaces lists them`);
    if (namespace !== undefined) keep(namespace);
  }
  return found;
}

/** Returns ebb's own labels or annotations only: a cluster may have thousands of namespaces. */
function ownIn(all: unknown): JsonObject {
  return Object.fromEntries(Object.entries(objectOf(all)).filter(([name]) => isEbbKey(name)));
}

/** Returns the value of the label ebb.dev/inject of each namespace that has it, by the namespace's name. */
export function askLabels(namespaces: readonly JsonObject[]): ReadonlyMap<string, string> {
  const labels = new Map<string, string>();
  for (const { metadata } of namespaces) {
    const { name, labels: all } = objectOf(metadata);
    const label = textOf(objectOf(all)[ASK]);
    if (label !== undefined) labels.set(String(name), label);
  }
  return labels;
}

interface Around {
  readonly webhooks: Webhooks;
  readonly hasReaper: boolean;
}

/** Finds labels and annotations of a namespace that ask for what is not installed, or that nobody reads. */
export function examineNamespace(namespace: JsonObject, { webhooks, hasReaper }: Around): readonly Finding[] {
  const { name, labels } = objectOf(namespace.metadata);
  const { [ASK]: ask, [REAP]: reap } = objectOf(labels);
  const ofAsk = ask === undefined ? undefined : namespaceFinding(String(name), String(ask), webhooks);
  const ofReap = reap === undefined ? undefined : reapLabelFinding(String(name), String(reap), hasReaper);
  return [...[ofAsk, ofReap].filter((finding) => finding !== undefined), ...misplacedInNamespace(namespace)];
}
