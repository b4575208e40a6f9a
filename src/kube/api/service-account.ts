import { formatHostPort } from "../../core/base/host-port.ts";
import { EXIT, Failure } from "../../core/run/exit.ts";
import { readIfThere } from "../../system/file.ts";
import { MiB, readFileWithin } from "../../system/input.ts";
import type { Access, Surroundings } from "./identity.ts";

/** Where the kubelet puts it (kubernetes.io/docs/tasks/run-application/access-api-from-pod). */
export const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/** Whether this process runs in a pod, by the kubelet's variables. */
export function isInCluster({ KUBERNETES_SERVICE_HOST: host }: Surroundings["env"]): boolean {
  return host !== undefined && host !== "";
}

/**
 * Returns a pod's own access by its ServiceAccount. Never through a proxy: HTTPS_PROXY is for the world outside, and the API
 * server is inside.
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
