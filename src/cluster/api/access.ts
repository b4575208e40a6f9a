import { EXIT, Failure } from "../../shared/core/exit.ts";
import { formatHostPort } from "../../shared/core/host-port.ts";
import { describeSystemError } from "../../shared/core/system-error.ts";
import { readIfThere } from "../../shared/io/file.ts";
import { MiB, readFileWithin } from "../../shared/io/input.ts";
import type { Log } from "../../shared/output/log.ts";
import type { Access, Surroundings } from "./identity.ts";

/**
 * Finds the API server and how to authenticate, in kubectl's order: the kubeconfig of --kubeconfig or KUBECONFIG; in a
 * pod its ServiceAccount; ~/.kube/config. A given context is always looked up in a kubeconfig. Rejects with Failure(64)
 * if no API server is configured or a kubeconfig is wrong, with Failure(69) if the pod's token cannot be read.
 */
export async function findAccess(given: Surroundings, log: Log): Promise<Access> {
  const { env, kubeconfig = env.KUBECONFIG ?? "", context } = given;
  const isNamed = kubeconfig !== "" || context !== undefined;
  if (!isNamed && isInCluster(env)) return accessFromServiceAccount(env);
  const { readKubeconfig, findKubeconfig } = await import("./kubeconfig.ts");
  const paths = findKubeconfig(given);
  if (paths.length === 0) {
    throw new Failure(
      EXIT.usage,
      "no kubeconfig: name one with --kubeconfig or KUBECONFIG (there is no ~/.kube/config, and this is not a pod with a ServiceAccount)",
    );
  }
  return readKubeconfig(paths, given, log);
}

/** The folder with the pod's token, CA and namespace (kubernetes.io/docs/tasks/run-application/access-api-from-pod). */
const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

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
      `${path}: ${describeSystemError(error)}; the pod needs a ServiceAccount with automountServiceAccountToken`,
    );
  }
}
