import { formatHostPort } from "../../core/base/host-port.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import { readIfThere } from "../../system/file.ts";
import { MiB, readFileWithin } from "../../system/input.ts";
import type { Access, Surroundings } from "./identity.ts";

/** The folder with the pod's token, CA and namespace (kubernetes.io/docs/tasks/run-application/access-api-from-pod). */
export const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Reports whether this process runs in a pod: whether the kubelet has set KUBERNETES_SERVICE_HOST. */
export function isInCluster({ KUBERNETES_SERVICE_HOST: host }: Surroundings["env"]): boolean {
  return host !== undefined && host !== "";
}

/**
 * Returns the access of this pod's ServiceAccount, whose files are in `folder`. It has no proxy: HTTPS_PROXY is for
 * servers outside of the cluster. @throws Failure(69) if there is no token
 */
export function accessFromServiceAccount(env: Surroundings["env"], folder = SERVICE_ACCOUNT): Access {
  const { KUBERNETES_SERVICE_HOST: host = "", KUBERNETES_SERVICE_PORT: port = "443" } = env;
  read(`${folder}/token`);
  return {
    server: `https://${formatHostPort(host, port)}`,
    namespace: readIfThere(`${folder}/namespace`)?.trim() || "default",
    // both are read for each request: the kubelet replaces the token before it expires, and the CA when it is rotated
    identity: async () => ({
      ca: read(`${folder}/ca.crt`),
      headers: { authorization: `Bearer ${read(`${folder}/token`).trim()}` },
    }),
  };
}

function read(path: string): string {
  try {
    return readFileWithin(path, MiB);
  } catch (error) {
    throw new Failure(
      EXIT.unavailable,
      `${path}: ${(error as Error).message}; the pod needs a ServiceAccount with automountServiceAccountToken`,
    );
  }
}
