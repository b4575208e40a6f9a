import { type Injection, injectPod } from "../../../../../src/cluster/inject/core/inject-pod.ts";
import type { InjectPolicy } from "../../../../../src/cluster/inject/core/policy.ts";

export const policy: InjectPolicy = {
  image: "registry.example.com/ebb:0.1.0",
  all: false,
  volume: "emptyDir",
  options: new Map(),
  entrypoints: new Map(),
};

// biome-ignore lint/suspicious/noExplicitAny: a pod of the tests, written loosely as in a manifest
export type Loose = any;

/** The parts of a pod; see `podOf`. */
export interface Given {
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly spec?: object;
  readonly containers?: readonly object[];
}

/** Returns a pod that asks for ebb, by default with one container, which has a command. */
export function podOf({ annotations = {}, spec = {}, containers = [app()] }: Given = {}): Loose {
  return { metadata: { annotations: { "ebb.dev/inject": "true", ...annotations } }, spec: { containers, ...spec } };
}

/** Returns a container with a command; `more` adds or replaces fields. */
export function app(more: object = {}): object {
  return { name: "app", image: "registry.example.com/app:1", command: ["/app", "serve"], ...more };
}

/** Returns a pod with ebb in it. @throws Error if injection does not change it */
export function changed(given: Given = {}, changes: Partial<InjectPolicy> = {}): Loose {
  return podIn(injectPod(podOf(given), { ...policy, ...changes }));
}

/** Returns the changed pod of an injection. @throws Error if it was not changed */
export function podIn(injection: Injection): Loose {
  if (injection.kind !== "changed") throw new Error(`it was not changed: ${JSON.stringify(injection)}`);
  return injection.pod;
}

/** Returns the problems, field and message, of a pod that is refused. @throws Error if it is not refused */
export function refusal(given: Given, changes: Partial<InjectPolicy> = {}): readonly (readonly [string, string])[] {
  const injection = injectPod(podOf(given), { ...policy, ...changes });
  if (injection.kind !== "refused") throw new Error(`it was not refused: ${JSON.stringify(injection)}`);
  return injection.problems.map(({ field, message }) => [field, message]);
}

/** Returns the warnings, field and message, about a pod. */
export function warnings(given: Given, changes: Partial<InjectPolicy> = {}): readonly (readonly [string, string])[] {
  return injectPod(podOf(given), { ...policy, ...changes }).warnings.map(({ field, message }) => [field, message]);
}
