/** How pods are changed, besides what their own annotations say. */
export interface InjectPolicy {
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
