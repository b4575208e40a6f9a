import { type HttpTarget, parseHttpTarget } from "../../../../../src/shared/core/address.ts";
import { adminNamedBy, annotatedIn, detect } from "../../../../../src/shared/sidecars/core/detect.ts";
import { findingAt, type PortFinding, suggestedBy } from "../../../../../src/shared/sidecars/core/identify.ts";

export type Table = Readonly<Record<string, string>>;

/** What ebb can see of a pod: variables, --admin, annotations, and the ports on which somebody listens. */
export interface Pod {
  readonly env?: Table;
  readonly admin?: string;
  readonly annotations?: Table;
  readonly listening?: readonly number[];
}

/** Returns all sidecars that these ports suggest, as if each had shown what it is. */
export function foundAt(ports: readonly number[]): readonly PortFinding[] {
  return suggestedBy(new Set(ports)).map(({ name, port }) => ({ name, by: `port ${port}` }));
}

/**
 * Detects sidecars. Returns their names, ` (native)` behind a native one's, and by what they were found, or "nothing".
 */
export function found({
  env = {},
  admin,
  annotations = {},
  listening = [],
}: Pod): readonly [names: string, by: string] {
  const pod = { env, annotations: new Map(Object.entries(annotations)) };
  const target = admin === undefined ? undefined : parseHttpTarget(admin);
  const naming = adminNamedBy(pod, target);
  const signs = { listening: new Set(listening), annotated: annotatedIn(pod) };
  const atAdmin = naming === undefined ? undefined : findingAt(target as HttpTarget, naming, { kind: "silent" }, signs);
  const { found, by } = detect({ ...pod, atAdmin, byPort: foundAt(listening) });
  const names = found.map(({ name, isNative }) => (isNative ? `${name} (native)` : name)).join(", ");
  return [names, by ?? "nothing"];
}

export const istioStatus = '{"initContainers":["istio-init"],"containers":["istio-proxy"]}';

export const istioNative = '{"initContainers":["istio-init","istio-proxy"],"containers":null}';

export const linkerdVersion = { "linkerd.io/proxy-version": "stable-2.14.0" };
