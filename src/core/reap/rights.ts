import { type MethodKind, methodKinds } from "./methods.ts";

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
  readonly method?: MethodKind;
}

export interface RightsNeeded {
  /** None: all. */
  readonly namespaces: readonly string[];
  readonly methods: readonly MethodKind[];
  /** It only looks. */
  readonly onlyLooks: boolean;
  readonly lease: { readonly namespace: string; readonly name: string } | undefined;
}

/** exec and port-forward by WebSocket are a GET, of which the API server asks for create too (Kubernetes 1.35). */
export const rightsByMethod: Readonly<
  Record<MethodKind, Pick<Right, "resource"> & { readonly verbs: readonly string[] }>
> = {
  exec: { resource: "pods/exec", verbs: ["get", "create"] },
  "port-forward": { resource: "pods/portforward", verbs: ["get", "create"] },
  ephemeral: { resource: "pods/ephemeralcontainers", verbs: ["patch"] },
};

/** Returns the permissions (verb, resource, namespace) that the reaper's account needs for these options. */
export function rightsNeeded({ namespaces, methods, onlyLooks, lease }: RightsNeeded): readonly Right[] {
  const scopes = namespaces.length === 0 ? [undefined] : [...new Set(namespaces)];
  return [...scopes.flatMap((namespace) => inScope(namespace, onlyLooks ? [] : methods, onlyLooks)), ...ofLease(lease)];
}

function inScope(namespace: string | undefined, methods: readonly MethodKind[], onlyLooks: boolean): readonly Right[] {
  const rights = (group: string, resource: string, ...verbs: string[]): readonly Right[] =>
    verbs.map((verb) => ({ verb, group, resource, namespace }));
  const ownName = namespace === undefined ? {} : { name: namespace };
  return [
    ...rights("", "pods", "get", "list", "watch"),
    ...rights("", "namespaces", ...(namespace === undefined ? ["list", "watch"] : ["get"])).map((right) => ({
      ...right,
      ...ownName,
    })),
    ...methods.flatMap((each) =>
      rights("", rightsByMethod[each].resource, ...rightsByMethod[each].verbs).map((right) => ({
        ...right,
        method: each,
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

/** Formats `create pods/exec in namespace shop`. */
export function describeRight({ verb, resource, namespace }: Right): string {
  return `${verb} ${resource} ${namespace === undefined ? "in all namespaces" : `in namespace ${namespace}`}`;
}

/** Formats `this reaper's account may not create pods/exec in all namespaces, ...`. */
export function describeMissing(missing: readonly Right[]): string {
  return `this reaper's account may not ${missing.map(describeRight).join(", ")}`;
}

const GRANT = "grant them (ebb manifests reaper ... | kubectl apply --server-side --force-conflicts -f -)";

/** Says how to grant missing rights; those of a method can also be avoided by leaving the method out. */
export function howToMend(missing: readonly Right[]): string {
  const methods = new Set(missing.map((right) => right.method));
  const isNoneLeft = methodKinds.every((kind) => methods.has(kind));
  return methods.has(undefined) || isNoneLeft
    ? GRANT
    : `${GRANT}, or leave ${[...methods].join(" and ")} out of --methods`;
}

/** Whether this is the permission to read a pod, with which each act begins. */
function isToLook({ group, resource, verb }: Right): boolean {
  return group === "" && resource === "pods" && verb === "get";
}

/** Returns the missing rights that keep a method from the pods of a namespace. */
export function missingFor(
  missing: readonly Right[],
  { namespace, method }: { readonly namespace: string | undefined; readonly method: MethodKind },
): readonly Right[] {
  return missing.filter(
    (right) =>
      (right.method === method || isToLook(right)) && (right.namespace === undefined || right.namespace === namespace),
  );
}
