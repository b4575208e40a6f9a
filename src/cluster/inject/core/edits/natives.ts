import type { Container, Pod } from "../pod.ts";

/**
 * Returns a pod's spec with containers as native sidecars. They are appended to initContainers: earlier ones may produce
 * their input, and never needed them.
 */
export function withNatives(spec: Pod["spec"], moved: readonly { readonly name: string }[]): Pod["spec"] {
  if (moved.length === 0) return spec;
  const names = moved.map(({ name }) => name);
  const byName = new Map(spec.containers.map((one) => [one.name, one]));
  const natives = names.map((name) => byName.get(name) as Container);
  const gone = new Set(names);
  const containers = spec.containers.filter(({ name }) => !gone.has(name));
  const added = natives.map((container) => ({ ...container, restartPolicy: "Always" }));
  return { ...spec, containers, initContainers: [...(spec.initContainers ?? []), ...added] };
}
