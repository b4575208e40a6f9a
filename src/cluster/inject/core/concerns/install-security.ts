import { type JsonObject, objectOf } from "../../../../shared/core/json.ts";
import { restrictedSecurity } from "../../../core/restricted-security.ts";
import type { Container, Pod } from "../pod.ts";

/**
 * Returns the securityContext of the init container: restricted, and like that of an app, so that what admits the app
 * admits it, too. No user is root. An AppArmor profile of the node's may forbid the copy.
 */
export function securityLike(app: Container, pod: Pod): JsonObject {
  const own = objectOf(app.securityContext);
  const isTaken = ["RuntimeDefault", "Unconfined"].includes(String(objectOf(own.appArmorProfile).type));
  const taken = {
    runAsUser: idOf(own.runAsUser) === 0 ? undefined : idOf(own.runAsUser),
    runAsGroup: idOf(own.runAsGroup),
    seLinuxOptions: own.seLinuxOptions,
    seccompProfile: seccompOf(app, pod),
    appArmorProfile: isTaken ? own.appArmorProfile : undefined,
  };
  const set = Object.entries(taken).filter(([, value]) => value != null);
  return { ...restrictedSecurity(pod, own), ...Object.fromEntries(set) };
}

const RUNTIME_DEFAULT = { type: "RuntimeDefault" };

/**
 * Returns the seccomp profile of the init container. It is the app's, but never Unconfined, which may be allowed for the
 * app's image alone. Where the app has none, also in the form before Kubernetes 1.19, it is the pod's: OpenShift's SCCs
 * nonroot, anyuid, hostaccess and hostnetwork refuse any.
 */
function seccompOf({ name, securityContext }: Container, { metadata }: Pod): unknown {
  const { seccompProfile } = objectOf(securityContext);
  const old = metadata?.annotations?.[`container.seccomp.security.alpha.kubernetes.io/${name}`];
  if (seccompProfile == null) return old === undefined ? undefined : RUNTIME_DEFAULT;
  return objectOf(seccompProfile).type === "Unconfined" ? RUNTIME_DEFAULT : seccompProfile;
}

/** Returns the id of a user or group; undefined if it is none that a number of JavaScript can be. */
function idOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}
