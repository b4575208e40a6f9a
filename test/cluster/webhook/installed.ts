import { images } from "../cluster.ts";
import type { Container } from "../objects.ts";

const folder = "/shared";
const volume = "ebb";

/** ebb in a volume, into which it installs itself, for containers whose images do not have it. */
export const installed = {
  path: `${folder}/ebb`,
  volume: { name: volume, emptyDir: {} },
  /** The init container that installs it; it must be the first. */
  container: {
    name: "install-ebb",
    image: images.ebb,
    args: ["install", `${folder}/ebb`],
    volumeMounts: [{ name: volume, mountPath: folder }],
  } satisfies Container,
};

/** Returns a container with that volume, and with the fields in `more`. */
export function withEbb(container: Container, more: Readonly<Record<string, unknown>> = {}): Container {
  const { volumeMounts = [] } = container as { readonly volumeMounts?: readonly object[] };
  const mount = { name: volume, mountPath: folder, readOnly: true };
  return { ...container, ...more, volumeMounts: [...volumeMounts, mount] };
}
