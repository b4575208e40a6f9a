import { type JsonObject, objectOf, valueAt } from "../../shared/core/json.ts";

/**
 * Returns a container's securityContext that Pod Security's "restricted" admits, but for the seccomp profile. It sets no
 * user, which OpenShift may refuse, unless the `pod`, any JSON, runs as root, and the container, whose securityContext is
 * `own`, as no other.
 */
export function restrictedSecurity(pod: unknown, own: JsonObject = {}): JsonObject {
  const { runAsUser, runAsGroup } = objectOf(valueAt(pod, ["spec", "securityContext"]));
  const isRoot = (own.runAsUser || runAsUser) === 0;
  return {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    ...(isRoot ? { runAsUser: 65532 } : {}),
    ...(isRoot && runAsGroup == null ? { runAsGroup: 65532 } : {}),
  };
}
