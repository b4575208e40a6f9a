import { chownSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { envoyPath } from "../../../build/setup/envoy.mjs";
import { compiledProgram } from "../compile.ts";
import type { Container, Pod } from "../pod.ts";
import { redirect } from "../redirect.ts";
import { discoveryAddress, ports } from "./istiod.ts";

export interface AgentOptions {
  readonly interception?: "REDIRECT" | "TPROXY";
  /** More fields of Istio's ProxyConfig. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

const proxyId = 1337;

/** Does what the container istio-init does: redirects the pod's connections. */
export function initialize(pod: Pod, { interception = "REDIRECT" }: AgentOptions): Promise<void> {
  return redirect(pod, { how: interception, userId: proxyId, notLed: "15090,15021,15020" });
}

/**
 * Starts the container istio-proxy, with words and variables of Istio's injection template, and its bootstrap for
 * Envoy.
 */
export async function startAgent(pod: Pod, folder: string, options: AgentOptions = {}): Promise<Container> {
  const { interception = "REDIRECT", config = {}, env = {} } = options;
  const agent = compiledProgram("pilot-agent");
  const proxyConfig = {
    discoveryAddress: discoveryAddress(pod.outside),
    controlPlaneAuthPolicy: "NONE", // istiod has no CA here
    binaryPath: envoyPath(),
    configPath: join(folder, "etc"),
    proxyBootstrapTemplatePath: agent.file("envoy_bootstrap.json"),
    ...config,
  };
  mkdirSync(join(folder, "etc"), { recursive: true });
  // with TPROXY it is root, and its group tells it from others
  const user = { uid: interception === "TPROXY" ? 0 : proxyId, gid: proxyId };
  for (const path of [folder, join(folder, "etc")]) chownSync(path, user.uid, user.gid);
  const flags = ["--domain", "default.svc.cluster.local", "--proxyLogLevel=warning"];
  const levels = ["--proxyComponentLogLevel=misc:error", "--log_output_level=default:info"];
  return await pod.start([agent.path, "proxy", "sidecar", ...flags, ...levels], {
    user,
    cwd: folder,
    env: { ...variables(pod.address, interception), PROXY_CONFIG: JSON.stringify(proxyConfig), ...env },
  });
}

function variables(address: string, interception: string): Readonly<Record<string, string>> {
  return {
    ...{ POD_NAME: "app-1", POD_NAMESPACE: "default", INSTANCE_IP: address, SERVICE_ACCOUNT: "default" },
    ...{ PILOT_CERT_PROVIDER: "istiod", TRUST_DOMAIN: "cluster.local", ISTIO_META_MESH_ID: "cluster.local" },
    ...{ ISTIO_META_CLUSTER_ID: "Kubernetes", ISTIO_META_WORKLOAD_NAME: "app" },
    ISTIO_META_INTERCEPTION_MODE: interception,
    ISTIO_META_POD_PORTS: JSON.stringify([{ containerPort: ports.app }]),
    CLOUD_PLATFORM: "none", // asks no cloud where it is
  };
}
