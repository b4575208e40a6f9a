import { type Injection, injectPod } from "../../../src/core/inject/patch.ts";
import type { InjectPolicy } from "../../../src/core/inject/policy.ts";

export const policy: InjectPolicy = {
  image: "registry.example.com/ebb:0.1.0",
  all: false,
  volume: "emptyDir",
  options: new Map(),
  entrypoints: new Map(),
};

// biome-ignore lint/suspicious/noExplicitAny: a pod of the tests, written loosely as in a manifest
export type Loose = any;

export interface Given {
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly spec?: object;
  readonly containers?: readonly object[];
}

/** A pod that asks for ebb, of one container with a command where nothing else is said. */
export function podOf({ annotations = {}, spec = {}, containers = [app()] }: Given = {}): Loose {
  return { metadata: { annotations: { "ebb.dev/inject": "true", ...annotations } }, spec: { containers, ...spec } };
}

export function app(more: object = {}): object {
  return { name: "app", image: "registry.example.com/app:1", command: ["/app", "serve"], ...more };
}

/** What becomes of a pod that must be changed. */
export function changed(given: Given = {}, changes: Partial<InjectPolicy> = {}): Loose {
  return podIn(injectPod(podOf(given), { ...policy, ...changes }));
}

export function podIn(injection: Injection): Loose {
  if (injection.kind !== "changed") throw new Error(`it was not changed: ${JSON.stringify(injection)}`);
  return injection.pod;
}

/** What is wrong with a pod that must be refused: field and message. */
export function refusal(given: Given, changes: Partial<InjectPolicy> = {}): readonly (readonly [string, string])[] {
  const injection = injectPod(podOf(given), { ...policy, ...changes });
  if (injection.kind !== "refused") throw new Error(`it was not refused: ${JSON.stringify(injection)}`);
  return injection.problems.map(({ field, message }) => [field, message]);
}

export function warnings(given: Given, changes: Partial<InjectPolicy> = {}): readonly (readonly [string, string])[] {
  return injectPod(podOf(given), { ...policy, ...changes }).warnings.map(({ field, message }) => [field, message]);
}
