import { type MeansKind, meansKinds } from "./means.ts";

/** What the reaper's account must be allowed to do; RBAC's words. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  /** `pods/exec`. */
  readonly resource: string;
  /** Undefined: in all namespaces. */
  readonly namespace: string | undefined;
  readonly name?: string;
  /** Only this way to end sidecars needs it; undefined: all do. */
  readonly means?: MeansKind;
}

export interface RightsNeeded {
  /** None: all. */
  readonly namespaces: readonly string[];
  readonly means: readonly MeansKind[];
  /** It only looks. */
  readonly onlyLooks: boolean;
  readonly lease: { readonly namespace: string; readonly name: string } | undefined;
}

/** exec and port-forward by WebSocket are a GET, of which the API server asks for create too (Kubernetes 1.35). */
export const rightsByMeans: Readonly<
  Record<MeansKind, Pick<Right, "resource"> & { readonly verbs: readonly string[] }>
> = {
  exec: { resource: "pods/exec", verbs: ["get", "create"] },
  "port-forward": { resource: "pods/portforward", verbs: ["get", "create"] },
  ephemeral: { resource: "pods/ephemeralcontainers", verbs: ["patch"] },
};

export function rightsNeeded({ namespaces, means, onlyLooks, lease }: RightsNeeded): readonly Right[] {
  const scopes = namespaces.length === 0 ? [undefined] : [...new Set(namespaces)];
  return [...scopes.flatMap((namespace) => inScope(namespace, onlyLooks ? [] : means, onlyLooks)), ...ofLease(lease)];
}

function inScope(namespace: string | undefined, means: readonly MeansKind[], onlyLooks: boolean): readonly Right[] {
  const rights = (group: string, resource: string, ...verbs: string[]): readonly Right[] =>
    verbs.map((verb) => ({ verb, group, resource, namespace }));
  const ownName = namespace === undefined ? {} : { name: namespace };
  return [
    ...rights("", "pods", "get", "list", "watch"),
    ...rights("", "namespaces", ...(namespace === undefined ? ["list", "watch"] : ["get"])).map((right) => ({
      ...right,
      ...ownName,
    })),
    ...means.flatMap((each) =>
      rights("", rightsByMeans[each].resource, ...rightsByMeans[each].verbs).map((right) => ({
        ...right,
        means: each,
      })),
    ),
    ...(onlyLooks ? [] : rights("events.k8s.io", "events", "create", "list")),
  ];
}

function ofLease(lease: RightsNeeded["lease"]): readonly Right[] {
  if (lease === undefined) return [];
  const { namespace, name } = lease;
  return ["get", "update"].map((verb) => ({ verb, group: "coordination.k8s.io", resource: "leases", namespace, name }));
}

/** `create pods/exec in namespace shop`. */
export function describeRight({ verb, resource, namespace }: Right): string {
  return `${verb} ${resource} ${namespace === undefined ? "in all namespaces" : `in namespace ${namespace}`}`;
}

/** `this reaper's account may not create pods/exec in all namespaces, ...`. */
export function describeMissing(missing: readonly Right[]): string {
  return `this reaper's account may not ${missing.map(describeRight).join(", ")}`;
}

const GRANT = "grant them (ebb manifests reaper ... | kubectl apply --server-side --force-conflicts -f -)";

/** Only the rights of a means can be done without. */
export function howToMend(missing: readonly Right[]): string {
  const means = new Set(missing.map((right) => right.means));
  const isNoneLeft = meansKinds.every((kind) => means.has(kind));
  return means.has(undefined) || isNoneLeft ? GRANT : `${GRANT}, or leave ${[...means].join(" and ")} out of --means`;
}

/** Each act begins with a look at the pod. */
function isToLook({ group, resource, verb }: Right): boolean {
  return group === "" && resource === "pods" && verb === "get";
}

/** Those that keep a means from a pod of this namespace. */
export function missingFor(
  missing: readonly Right[],
  { namespace, means }: { readonly namespace: string | undefined; readonly means: MeansKind },
): readonly Right[] {
  return missing.filter(
    (right) =>
      (right.means === means || isToLook(right)) && (right.namespace === undefined || right.namespace === namespace),
  );
}
