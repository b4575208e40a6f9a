import { Document, isMap, isScalar, visit, type YAMLSeq } from "yaml";
import { type Component, type Installation, type Manifest, metadataOf } from "./installation.ts";
import { reaperManifests } from "./reaper.ts";
import { webhookManifests } from "./webhook.ts";

const components: Readonly<Record<Component, (installation: Installation) => readonly Manifest[]>> = {
  webhook: webhookManifests,
  reaper: reaperManifests,
};

/**
 * Formats the manifests of these components as a YAML stream, in the order to apply them. `call`: the arguments of `ebb
 * manifests`, for the comment at the top.
 */
export function printManifests(
  installation: Installation,
  names: readonly Component[],
  call: readonly string[],
): string {
  const title = `ebb ${installation.version}, made by: ${["ebb", "manifests", ...call].map(quoted).join(" ")}`;
  const all = names.flatMap((name) => [...ownNamespace(installation, name), ...components[name](installation)]);
  return `${comment(title)}${all.map(print).join("")}`;
}

/**
 * Returns a Namespace for this component alone, unless the installation names one: `kubectl delete` removes the
 * Namespace with all that is in it.
 */
function ownNamespace(installation: Installation, component: Component): readonly Manifest[] {
  if (installation.namespace !== undefined) return [];
  const { name, labels } = metadataOf(installation, component);
  const restricted = {
    "pod-security.kubernetes.io/enforce": "restricted",
    "pod-security.kubernetes.io/warn": "restricted",
  };
  return [
    { object: { apiVersion: "v1", kind: "Namespace", metadata: { name, labels: { ...labels, ...restricted } } } },
  ];
}

/** Quotes a word for a shell, if it needs that. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** Formats one document in YAML 1.1, as Kubernetes reads it: there `on` and `1:30` need quotes to be strings. */
function print({ object, about, notes = {} }: Manifest): string {
  const document = new Document(object, { version: "1.1", aliasDuplicateObjects: false });
  for (const [path, text] of Object.entries(notes)) note(document, path.split("."), text);
  visit(document, { Seq: (_, list) => writeInLine(list) });
  return `---\n${about === undefined ? "" : comment(about)}${document.toString({ lineWidth: 0, flowCollectionPadding: false })}`;
}

/** Sets a short list to be written on one line: `verbs: [get, list]`. */
function writeInLine(list: YAMLSeq): void {
  list.flow = list.items.every(isScalar) && list.items.join(", ").length < 60;
}

function comment(text: string): string {
  return `${text.replaceAll(/^/gm, "# ")}\n`;
}

/**
 * Adds a comment before a field.
 * @throws Error if the object has no such field
 */
function note(document: Document, path: readonly string[], text: string): void {
  const parent = document.getIn(path.slice(0, -1), true);
  const isNamed = (key: unknown) => isScalar(key) && key.value === path.at(-1);
  const key = isMap(parent) ? parent.items.find((pair) => isNamed(pair.key))?.key : undefined;
  if (!isScalar(key)) throw new Error(`no field ${path.join(".")}`);
  key.commentBefore = ` ${text}`;
}
