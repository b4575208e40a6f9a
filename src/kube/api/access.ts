import { EXIT, Failure } from "../../core/run/exit.ts";
import type { Log } from "../../system/output/log.ts";
import type { Access, Surroundings } from "./identity.ts";
import { accessFromServiceAccount, isInCluster } from "./service-account.ts";

/**
 * Finds the API server and how to authenticate, as kubectl does: the kubeconfig of the flag or KUBECONFIG, else in a pod its
 * ServiceAccount, else ~/.kube/config. @throws Failure where none can be used
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
