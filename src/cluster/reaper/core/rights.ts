import { type MethodKind, methodKinds } from "./methods.ts";

/** A permission of the reaper's account, in RBAC's words. */
export interface Right {
  readonly verb: string;
  /** The API group; empty for the core group. */
  readonly group: string;
  /** With the subresource, such as `pods/exec`. */
  readonly resource: string;
  /** Undefined: in all namespaces. */
  readonly namespace: string | undefined;
  /** The name of the only object that it is about. */
  readonly name?: string;
  /** The only way to end sidecars that needs it; undefined if all do. */
  readonly method?: MethodKind;
}

/** The options that decide which permissions the reaper needs. */
interface RightsNeeded {
  /** The namespaces in which it looks; empty: all. */
  readonly namespaces: readonly string[];
  readonly methods: readonly MethodKind[];
  /** It only reads (--dry-run). */
  readonly onlyLooks: boolean;
}

/**
 * What each method must be allowed. exec and port-forward by WebSocket are a GET, of which the API server asks for
 * create too (Kubernetes 1.35).
 */
const rightsByMethod: Readonly<Record<MethodKind, Pick<Right, "resource"> & { readonly verbs: readonly string[] }>> = {
  exec: { resource: "pods/exec", verbs: ["get", "create"] },
  "port-forward": { resource: "pods/portforward", verbs: ["get", "create"] },
  ephemeral: { resource: "pods/ephemeralcontainers", verbs: ["patch"] },
};

/** Returns the permissions that the reaper's account needs for these options. */
export function rightsNeeded({ namespaces, methods, onlyLooks }: RightsNeeded): readonly Right[] {
  const scopes = namespaces.length === 0 ? [undefined] : [...new Set(namespaces)];
  return scopes.flatMap((namespace) => inScope(namespace, onlyLooks ? [] : methods, onlyLooks));
}

function inScope(namespace: string | undefined, methods: readonly MethodKind[], onlyLooks: boolean): readonly Right[] {
  const rights = (group: string, resource: string, verbs: readonly string[], more: Partial<Right> = {}) =>
    verbs.map((verb): Right => ({ verb, group, resource, namespace, ...more }));
  const ofNamespaces =
    namespace === undefined
      ? rights("", "namespaces", ["list", "watch"])
      : rights("", "namespaces", ["get"], { name: namespace });
  return [
    ...rights("", "pods", ["get", "list", "watch"]),
    ...ofNamespaces,
    ...methods.flatMap((method) =>
      rights("", rightsByMethod[method].resource, rightsByMethod[method].verbs, { method }),
    ),
    ...(onlyLooks ? [] : rights("events.k8s.io", "events", ["create"])),
  ];
}

/** kubernetes staging/src/k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go, forbiddenMessage. */
const REFUSAL = / cannot (\S+) resource "([^"]*)" in API group "([^"]*)"(?: in the namespace "([^"]*)")?/;

/** Returns the needed permission that the API server's 403 names; undefined if it names none of them. */
export function refusedRight(message: string, needed: readonly Right[]): Right | undefined {
  const [, verb, resource, group, where] = REFUSAL.exec(message) ?? [];
  return needed.find(
    (right) =>
      right.verb === verb &&
      right.resource === resource &&
      right.group === group &&
      (right.namespace === undefined || right.namespace === where),
  );
}

/** Formats `create pods/exec in namespace shop`. */
export function describeRight({ verb, resource, namespace }: Right): string {
  return `${verb} ${resource} ${namespace === undefined ? "in all namespaces" : `in namespace ${namespace}`}`;
}

/**
 * Formats `this reaper's account may not create pods/exec in all namespaces, ...`; of a person (`isByHand`) `you may
 * not ...`, and what to do.
 */
export function describeMissing(missing: readonly Right[], isByHand = false): string {
  const rights = missing.map(describeRight).join(", ");
  return isByHand ? `you may not ${rights}; ${ASK}` : `this reaper's account may not ${rights}`;
}

const ASK = "ask an administrator to allow it";
const GRANT = "grant them: apply the reaper's manifests again (ebb manifests reaper), or helm upgrade";

/**
 * Says how to get missing permissions. If some methods need none of them, it says that the others can be left out,
 * too.
 */
export function howToMend(missing: readonly Right[], isByHand = false): string {
  const grant = isByHand ? ASK : GRANT;
  const methods = new Set(missing.map((right) => right.method));
  const isNoneLeft = methodKinds.every((kind) => methods.has(kind));
  return methods.has(undefined) || isNoneLeft
    ? grant
    : `${grant}, or leave ${[...methods].join(" and ")} out of --methods`;
}

/** Reports whether this is the permission to read a pod, without which no request is sent. */
function isToRead({ group, resource, verb }: Right): boolean {
  return group === "" && resource === "pods" && verb === "get";
}

/** Returns the missing permissions without which a method cannot be used on the pods of a namespace. */
export function missingFor(
  missing: readonly Right[],
  { namespace, method }: { readonly namespace: string | undefined; readonly method: MethodKind },
): readonly Right[] {
  return missing.filter(
    (right) =>
      (right.method === method || isToRead(right)) && (right.namespace === undefined || right.namespace === namespace),
  );
}
