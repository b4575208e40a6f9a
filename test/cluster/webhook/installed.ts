import { images } from "../cluster.ts";
import type { Container } from "../objects.ts";

const folder = "/shared";
const volume = "ebb";

/** ebb in a volume, put there by itself: for containers whose images have none. */
export const installed = {
  path: `${folder}/ebb`,
  volume: { name: volume, emptyDir: {} },
  /** The first of the pod's init containers. */
  container: {
    name: "install-ebb",
    image: images.ebb,
    args: ["install", `${folder}/ebb`],
    volumeMounts: [{ name: volume, mountPath: folder }],
  } satisfies Container,
};

/** The same container, with ebb in it, and what else is given. */
export function withEbb(container: Container, more: Readonly<Record<string, unknown>> = {}): Container {
  const { volumeMounts = [] } = container as { readonly volumeMounts?: readonly object[] };
  const mount = { name: volume, mountPath: folder, readOnly: true };
  return { ...container, ...more, volumeMounts: [...volumeMounts, mount] };
}

/** A preStop hook that is ebb with these words. */
export function ebbHook(...words: readonly string[]): { readonly lifecycle: object } {
  return { lifecycle: { preStop: { exec: { command: [installed.path, ...words] } } } };
}
