import { expect } from "bun:test";
import { parseAllDocuments } from "yaml";
import { ebb } from "../../harness/ebb.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, read deeply
export type Any = any;

export const image = "registry.example.com/ebb:0.1.0";

/** Returns what `ebb manifests` prints. Fails if it fails, or writes to stderr. */
export async function printed(...words: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await ebb(["manifests", "--image", image, ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

/** Parses the documents of a manifest as YAML 1.1, as Kubernetes does. Fails on errors and warnings. */
export function objectsOf(yaml: string): Any[] {
  const documents = parseAllDocuments(yaml, { version: "1.1" }).map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
    return document.toJS();
  });
  return documents.filter((each) => each !== null); // the comment at the top
}

/** Returns the objects that `ebb manifests` prints. */
export async function objects(...words: readonly string[]): Promise<Any[]> {
  return objectsOf(await printed(...words));
}

/** Returns the only object of a kind. Fails if there is not exactly one. */
export function find(all: readonly Any[], kind: string): Any {
  const found = all.filter((object) => object.kind === kind);
  expect(found).toHaveLength(1);
  return found[0];
}

/** Returns the pod spec of the only Deployment. */
export const podOf = (all: readonly Any[]) => find(all, "Deployment").spec.template.spec;

/** Returns the first container of the only Deployment. */
export const containerOf = (all: readonly Any[]) => podOf(all).containers[0];
