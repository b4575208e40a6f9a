import { type JsonObject, listOf, objectOf, withField } from "./json.ts";
import { boolean } from "./syntax.ts";

/** How pods are changed, besides what their own annotations say. */
export interface Policy {
  /** The image that has ebb as /ebb. */
  readonly image: string;
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never" | undefined;
  /** Pods that do not ask for it are changed too; one that says no never is. */
  readonly all: boolean;
  /** Whether an init container copies ebb into the pod, or its image is mounted. */
  readonly volume: "emptyDir" | "image";
  /** Options of `ebb run` by their flags (`drain`), as their variables would have them; a pod's annotations come first. */
  readonly options: ReadonlyMap<string, string>;
  /** What an image starts, by the container's name, or by the image with its tag or without. */
  readonly entrypoints: ReadonlyMap<string, readonly string[]>;
}

/** Something to say of a field of the pod: `spec.containers[0].command`, `metadata.annotations[ebb.dev/drain]`. */
export interface Remark {
  readonly field: string;
  readonly message: string;
}

/** What came of it. A pod asks for it by its annotation; others are taken by `all` alone. */
export type Injection = { readonly asked: boolean; readonly warnings: readonly Remark[] } & (
  | { readonly kind: "changed"; readonly pod: JsonObject; readonly containers: readonly string[] }
  | { readonly kind: "unchanged"; readonly reason: string }
  | { readonly kind: "refused"; readonly problems: readonly Remark[] }
);

/** Where ebb is in the containers that it starts. */
export const EBB = "/ebb.dev/ebb";

/** Puts ebb into a pod (or a template of pods), whatever JSON that is. Never throws; the pod itself stays as it is. */
export function injectPod(pod: unknown, policy: Policy): Injection {
  const annotations = objectOf(objectOf(objectOf(pod).metadata).annotations);
  const wish = annotations["ebb.dev/inject"];
  const isYes = typeof wish === "string" ? boolean.parse(wish) : undefined;
  const base = { asked: isYes === true, warnings: [] };
  if (wish !== undefined && isYes === undefined) {
    const message = `expected "true" or "false" in quotes, got ${JSON.stringify(wish)}`;
    return {
      ...base,
      kind: "refused",
      asked: true,
      problems: [{ field: "metadata.annotations[ebb.dev/inject]", message }],
    };
  }
  if (isYes === false) return { ...base, kind: "unchanged", reason: 'it says ebb.dev/inject: "false"' };
  if (isYes === undefined && !policy.all) {
    return { ...base, kind: "unchanged", reason: "it does not ask for it (annotation ebb.dev/inject)" };
  }
  return wrapAll(objectOf(pod), policy, base);
}

type Base = Pick<Injection, "asked" | "warnings">;

function wrapAll(pod: JsonObject, policy: Policy, base: Base): Injection {
  const spec = objectOf(pod.spec);
  const containers = listOf(spec.containers).map(objectOf);
  const isWrapped = ({ command }: JsonObject) => listOf(command)[0] === EBB;
  const problems = containers.flatMap((container, at) =>
    listOf(container.command).length > 0
      ? []
      : [
          {
            field: `spec.containers[${at}].command`,
            message: "what its image starts is not known: write the whole command line here",
          },
        ],
  );
  if (containers.length === 0) problems.push({ field: "spec.containers", message: "expected a list of containers" });
  if (problems.length > 0) return { ...base, kind: "refused", problems };
  if (containers.every(isWrapped)) return { ...base, kind: "unchanged", reason: "ebb is in it already" };
  const mount = { name: "ebb", mountPath: "/ebb.dev" };
  const install = {
    name: "ebb-install",
    image: policy.image,
    command: ["/ebb", "install", EBB],
    volumeMounts: [mount],
  };
  const wrapped = containers.map((container) => ({
    ...container,
    command: [EBB, "run", "--", ...listOf(container.command)],
    volumeMounts: [...listOf(container.volumeMounts), { ...mount, readOnly: true }],
  }));
  const changed = {
    ...spec,
    containers: wrapped,
    initContainers: [install, ...listOf(spec.initContainers)],
    volumes: [...listOf(spec.volumes), { name: "ebb", emptyDir: { sizeLimit: "256Mi" } }],
  };
  const names = containers.map(({ name }) => String(name));
  return { ...base, kind: "changed", pod: withField(pod, "spec", changed), containers: names };
}
