import { isPort } from "../../../../shared/core/host-port.ts";
import { listOf, objectOf } from "../../../../shared/core/json.ts";
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
  /** Whether it has a startupProbe: the kubelet waits for that if it is native. */
  readonly isProbed?: true;
}

/** Returns which sidecar a container is, and what its arguments show of it. Returns undefined if it is none. */
export function shownIn(container: ManifestContainer): ShownSidecar | undefined {
  const image = container.image ?? undefined;
  const name = sidecarIn(container.name, image);
  if (name === undefined) return undefined;
  const { inManifest } = kindOf(name);
  const one = {
    name,
    container: container.name,
    ...(objectOf(container).startupProbe != null && { isProbed: true as const }),
  };
  if (inManifest === undefined) return one;
  const given = readable([...(container.command ?? []), ...(container.args ?? [])]);
  const env = new Map((container.env ?? []).map((one) => [one.name, fixedValue(one)]));
  const words = given.flatMap((word) => withVariables(word, env).split(/\s+/));
  return {
    ...one,
    ...inManifest({ image: image === undefined ? "" : baseOf(image), words, env, ports: portsOf(container) }),
  };
}

/** Returns the TCP ports that a container declares. */
export function portsOf(container: object): readonly number[] {
  const ports = listOf(objectOf(container).ports).map(objectOf);
  const numbers = ports.map(({ containerPort, protocol }) =>
    (protocol ?? "TCP") === "TCP" ? containerPort : undefined,
  );
  return numbers.filter((port): port is number => typeof port === "number" && isPort(port));
}

/** Returns a word as the kubelet expands it. A variable that is not seen stays as it is. */
function withVariables(word: string, env: ReadonlyMap<string, string | undefined>): string {
  return word.replace(/\$\((\w+)\)/g, (reference, name) => readable([env.get(name) ?? reference])[0] ?? reference);
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
  const ordinaryHere = new Set(shown.flatMap(({ name, at }) => (at === undefined ? [] : [name])));
  return ordinary.flatMap(({ name }) =>
    needsNone.has(name) ? [] : (kindOf(name).quitIsOff?.(annotations, ordinaryHere.has(name)) ?? []),
  );
}
