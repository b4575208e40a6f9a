import { EXIT, Failure } from "../../core/run/exit.ts";
import type { Log } from "../../system/output/log.ts";
import type { Access, Surroundings } from "./identity.ts";
import { accessFromServiceAccount, isInCluster } from "./service-account.ts";

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
      "no Kubernetes API server is configured: this is no pod with a ServiceAccount's token, KUBECONFIG is not set, and there is no ~/.kube/config; name one by --kubeconfig",
    );
  }
  return readKubeconfig(paths, given, log);
}
