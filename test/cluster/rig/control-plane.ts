import { readFileSync } from "node:fs";
import { join } from "node:path";
import { startDaemon } from "./daemon.ts";
import { apiServer, network, type Place } from "./place.ts";

/** Starts etcd and the API server. Resolves once the API server is ready. */
export async function startApiServer({ at, kubernetes }: Place): Promise<void> {
  const pki = (name: string): string => at("pki", name);
  startDaemon(at("log", "etcd"), ["etcd", "--data-dir", at("etcd"), "--unsafe-no-fsync"]);
  const server = startDaemon(at("log", "kube-apiserver"), [
    join(kubernetes, "kube-apiserver"),
    ...["--etcd-servers", "http://127.0.0.1:2379"],
    ...["--advertise-address", network.node],
    ...["--service-cluster-ip-range", network.services],
    ...["--tls-cert-file", pki("kube-apiserver.crt")],
    ...["--tls-private-key-file", pki("kube-apiserver.key")],
    ...["--client-ca-file", pki("ca.crt")],
    ...["--kubelet-client-certificate", pki("admin.crt")],
    ...["--kubelet-client-key", pki("admin.key")],
    ...["--kubelet-certificate-authority", pki("ca.crt")],
    ...["--kubelet-preferred-address-types", "InternalIP"],
    ...["--service-account-issuer", "https://kubernetes.default.svc"],
    ...["--service-account-key-file", pki("service-accounts.crt")],
    ...["--service-account-signing-key-file", pki("service-accounts.key")],
    ...["--authorization-mode", "Node,RBAC"],
    "--allow-privileged", // as a container of a test may be
  ]);
  await server.ready("the API server is ready", async () => (await ask(at, "/readyz")).ok);
}

/** Starts the controllers, which make pods for Jobs and Deployments, and the scheduler. Does not wait for them. */
export function startControllers({ at, kubernetes }: Place): void {
  const daemons = {
    "kube-controller-manager": [
      ...["--root-ca-file", at("pki", "ca.crt")],
      ...["--service-account-private-key-file", at("pki", "service-accounts.key")],
      "--use-service-account-credentials",
      ...["--node-monitor-period", "1s"], // a node that becomes ready is used sooner
    ],
    "kube-scheduler": [],
  };
  for (const [name, more] of Object.entries(daemons)) {
    const kubeconfigs = ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"];
    const flags = kubeconfigs.flatMap((flag) => [`--${flag}`, at(`${name}.kubeconfig`)]);
    startDaemon(at("log", name), [join(kubernetes, name), "--leader-elect=false", ...flags, ...more]);
  }
}

/** Asks the API server, or another one of the cluster, as admin; resolves with its answer. */
export function ask(at: Place["at"], path: string, server = apiServer): Promise<Response> {
  const read = (name: string): string => readFileSync(at("pki", name), "utf8");
  const tls = { ca: read("ca.crt"), cert: read("admin.crt"), key: read("admin.key") };
  return fetch(`${server}${path}`, { tls });
}
