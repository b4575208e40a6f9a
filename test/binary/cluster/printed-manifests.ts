import { expect } from "bun:test";
import { parseAllDocuments } from "yaml";
import { ebb } from "../../harness.ts";

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes, read deeply
export type Any = any;

export const image = "registry.example.com/ebb:0.1.0";

export async function printed(...flags: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await ebb(["manifests", "--image", image, ...flags]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout;
}

/** As Kubernetes reads YAML: 1.1. */
export function objectsOf(yaml: string): Any[] {
  return parseAllDocuments(yaml, { version: "1.1" }).map((document) => {
    expect([...document.errors, ...document.warnings]).toEqual([]);
    return document.toJS();
  });
}

export async function objects(...flags: readonly string[]): Promise<Any[]> {
  return objectsOf(await printed(...flags));
}

export function find(all: readonly Any[], kind: string): Any {
  const found = all.filter((object) => object.kind === kind);
  expect(found).toHaveLength(1);
  return found[0];
}

export const podOf = (all: readonly Any[]) => find(all, "Deployment").spec.template.spec;

export const containerOf = (all: readonly Any[]) => podOf(all).containers[0];

export const hookOf = (all: readonly Any[]) => find(all, "MutatingWebhookConfiguration").webhooks[0];

export const first = ["MutatingWebhookConfiguration", "ServiceAccount"];
