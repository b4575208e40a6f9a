import { EXIT, Failure } from "../../core/run/exit.ts";
import type { Log } from "../../system/output/log.ts";
import { inCluster, isInCluster } from "./service-account.ts";

/** What TLS needs of a client: PEM. */
export interface Identity {
  readonly ca?: string | undefined;
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** How to reach one API server, and as whom. */
export interface Access {
  /** `https://10.96.0.1:443`, without a slash at the end. */
  readonly server: string;
  /** The name that the server's certificate has to be for, if not its host's. */
  readonly serverName?: string | undefined;
  readonly isInsecure?: boolean | undefined;
  readonly proxy?: string | undefined;
  /** The namespace that is meant where none is named. */
  readonly namespace: string;
  /** Asked before each request, because tokens and certificates are replaced. `isRefused`: the last was answered by 401. */
  identity(isRefused?: boolean): Promise<Identity>;
}

export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where a kubeconfig is, if not where KUBECONFIG says. */
  readonly kubeconfig?: string | undefined;
  /** Which of its contexts. */
  readonly context?: string | undefined;
}

/**
 * As kubectl decides: a kubeconfig that is named, by flag or KUBECONFIG; in a pod its ServiceAccount; else ~/.kube/config.
 *
 * @throws Failure when none of them can be used
 */
export async function findAccess(given: Surroundings, log: Log): Promise<Access> {
  const { env, kubeconfig = env.KUBECONFIG ?? "", context } = given;
  const isNamed = kubeconfig !== "" || context !== undefined;
  if (!isNamed && isInCluster(env)) return inCluster(env);
  const { readKubeconfig, findKubeconfig } = await import("./kubeconfig.ts");
  const paths = findKubeconfig(given);
  if (paths.length === 0) {
    throw new Failure(
      EXIT.usage,
      "no access to a Kubernetes API server: this is no pod with a ServiceAccount's token, KUBECONFIG is not set, and there is no ~/.kube/config; name one by --kubeconfig",
    );
  }
  return readKubeconfig(paths, given, log);
}
