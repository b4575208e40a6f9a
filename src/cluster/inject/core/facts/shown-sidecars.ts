import type { Annotations, Shown } from "../../../../shared/sidecars/core/kinds/kind.ts";
import { foundIn } from "../../../../shared/sidecars/core/plan.ts";
import { kindOf, type SidecarName, sidecarNames } from "../../../../shared/sidecars/core/registry.ts";
import { baseOf, sidecarIn } from "../../../core/containers.ts";
import { readable } from "../../../core/readable.ts";

/** A container of a pod's manifest. Its fields are whatever a user wrote. */
export interface ManifestContainer {
  readonly name: string;
  readonly image?: string | null | undefined;
  readonly command?: readonly string[] | null | undefined;
  readonly args?: readonly string[] | null | undefined;
  readonly env?:
    | readonly { readonly name: string; readonly value?: string | null | undefined; readonly valueFrom?: unknown }[]
    | null
    | undefined;
}

/** A sidecar that a container of a manifest is, by its name or image, and what its arguments show. */
export interface ShownSidecar extends Shown {
  readonly name: SidecarName;
  readonly container: string;
}

/** Returns which sidecar a container is, and what its arguments show of it. Returns undefined if it is none. */
export function shownIn(container: ManifestContainer): ShownSidecar | undefined {
  const image = container.image ?? undefined;
  const name = sidecarIn(container.name, image);
  if (name === undefined) return undefined;
  const { inManifest } = kindOf(name);
  if (inManifest === undefined) return { name, container: container.name };
  const given = readable([...(container.command ?? []), ...(container.args ?? [])]);
  const words = given.flatMap((word) => word.split(/\s+/));
  const env = new Map((container.env ?? []).map((one) => [one.name, fixedValue(one)]));
  return {
    name,
    container: container.name,
    ...inManifest({ image: image === undefined ? "" : baseOf(image), words, env }),
  };
}

function fixedValue({ value, valueFrom }: NonNullable<ManifestContainer["env"]>[number]): string | undefined {
  return valueFrom === undefined ? (value ?? "") : undefined;
}

/** A sidecar that a manifest shows, and its place among the ordinary containers; undefined: it is native. */
type Placed = ShownSidecar & { readonly at: number | undefined };

/**
 * Returns why annotations keep sidecars from being told to quit, and what to set. A native one needs no quit. `shown`: those
 * that the manifest has.
 */
export function quitsThatAreOff(annotations: Annotations, shown: readonly Placed[]): readonly string[] {
  const ordinary = foundIn({ env: {}, annotations }, sidecarNames).filter(({ isNative }) => !isNative);
  const needsNone = new Set(shown.flatMap(({ name, at, quitIsOn }) => (at === undefined || quitIsOn ? [name] : [])));
  return ordinary.flatMap(({ name }) => (needsNone.has(name) ? [] : (kindOf(name).quitIsOff?.(annotations) ?? [])));
}
