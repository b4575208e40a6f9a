import type { Container } from "../pod.ts";

/** Returns the index of the container's first mount at a folder or below; undefined if there is none. */
export function mountIn(folder: string, { volumeMounts }: Container): number | undefined {
  const at = (volumeMounts ?? []).findIndex(({ mountPath }) => isIn(normalPath(mountPath), folder));
  return at < 0 ? undefined : at;
}

/** Removes what makes no difference in a path: `/etc//podinfo/` becomes `/etc/podinfo`. */
export function normalPath(path: string): string {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  return `/${parts.join("/")}`;
}

/** Reports whether a path is a folder, or inside of it. */
export function isIn(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === "/" ? "/" : `${folder}/`);
}
