import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { pauseImage } from "../images.ts";
import { ask } from "./control-plane.ts";
import { runTool, startDaemon } from "./daemon.ts";
import { importImage, network, node, type Place, registries } from "./place.ts";

const socket = "/run/containerd/containerd.sock";

/**
 * Starts containerd, which needs nothing else, and gives it the image of pods' sandboxes. Resolves once it has that.
 */
export async function startContainerd({ at }: Place): Promise<void> {
  const pause = pauseImage();
  writeFileSync(at("containerd.toml"), containerdConfig(pause.reference, at));
  mkdirSync(at("cni"), { recursive: true });
  writeFileSync(at("cni", "pods.conflist"), JSON.stringify(podNetwork));
  const daemon = startDaemon(at("log", "containerd"), ["containerd", "--config", at("containerd.toml")]);
  await daemon.ready("containerd answers", async () => (await runTool("ctr", "version")) !== "");
  writeFileSync(at("pause.tar"), pause.archive());
  await runTool(...importImage, at("pause.tar"));
}

/**
 * The pods' network: each has a link to the node, which routes. There is no bridge, because its packets skip
 * kube-proxy's rules.
 */
const podNetwork = {
  cniVersion: "0.4.0",
  name: "pods",
  plugins: [
    {
      type: "ptp",
      ipam: {
        type: "host-local",
        ranges: [[{ subnet: network.pods, gateway: network.node, rangeStart: network.node.replace(/\d+$/, "2") }]],
        routes: [{ dst: "0.0.0.0/0" }],
      },
    },
  ],
};

/**
 * Returns containerd's configuration. It restricts oom_score_adj, because the kernel refuses one below its own to a
 * process without CAP_SYS_RESOURCE, which root in a virtual machine may lack.
 */
function containerdConfig(sandboxImage: string, at: Place["at"]): string {
  return `version = 2
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "${sandboxImage}"
restrict_oom_score_adj = true
disable_apparmor = true
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = "${at("cni")}"
[plugins."io.containerd.grpc.v1.cri".registry]
config_path = "${at(registries)}"
`;
}

/** Starts the kubelet. Resolves once pods can be given to the node. */
export async function startKubelet({ at, kubernetes, group }: Place): Promise<void> {
  writeFileSync(at("kubelet.yaml"), stringify(kubeletConfig(at, group)));
  const flags = ["--kubeconfig", at("kubelet.kubeconfig"), "--hostname-override", node, "--node-ip", network.node];
  const program = join(kubernetes, "kubelet");
  const daemon = startDaemon(at("log", "kubelet"), [program, "--config", at("kubelet.yaml"), ...flags]);
  await daemon.ready("the node is ready", async () => {
    const answer = (await (await ask(at, `/api/v1/nodes/${node}`)).json()) as NodeObject;
    const isReady = answer.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True");
    // its first taints stay for some seconds, in which no pod is scheduled to it
    return isReady === true && answer.spec?.taints === undefined;
  });
}

interface NodeObject {
  readonly spec?: { readonly taints?: readonly object[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

function kubeletConfig(at: Place["at"], group: string): object {
  return {
    apiVersion: "kubelet.config.k8s.io/v1beta1",
    kind: "KubeletConfiguration",
    containerRuntimeEndpoint: `unix://${socket}`,
    cgroupDriver: "cgroupfs",
    cgroupRoot: `/${group}`,
    failCgroupV1: false,
    authentication: { anonymous: { enabled: false }, x509: { clientCAFile: at("pki", "ca.crt") } },
    authorization: { mode: "Webhook" },
    tlsCertFile: at("pki", "kubelet.crt"),
    tlsPrivateKeyFile: at("pki", "kubelet.key"),
    oomScoreAdj: 0,
    maxOpenFiles: openFilesLimit(),
    failSwapOn: false,
    makeIPTablesUtilChains: false,
    imageGCHighThresholdPercent: 100, // no image comes back by itself
    evictionHard: { "memory.available": "50Mi", "nodefs.available": "100Mi", "imagefs.available": "100Mi" },
    resolvConf: "",
    enableControllerAttachDetach: false,
    nodeStatusUpdateFrequency: "5s",
  };
}

function openFilesLimit(): number {
  const [, hard = ""] = /^Max open files +\S+ +(\S+)/m.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  return hard === "unlimited" ? 1_000_000 : Number(hard);
}

/** Starts kube-proxy, which makes the addresses of Services work. Resolves once the API server's does. */
export async function startKubeProxy({ at, kubernetes }: Place): Promise<void> {
  const config = {
    apiVersion: "kubeproxy.config.k8s.io/v1alpha1",
    kind: "KubeProxyConfiguration",
    mode: "nftables",
    bindAddress: network.node,
    hostnameOverride: node,
    clientConnection: { kubeconfig: at("kube-proxy.kubeconfig") },
    clusterCIDR: network.pods,
    conntrack: { maxPerCore: 0 },
  };
  writeFileSync(at("kube-proxy.yaml"), stringify(config));
  const program = join(kubernetes, "kube-proxy");
  const daemon = startDaemon(at("log", "kube-proxy"), [program, "--config", at("kube-proxy.yaml")]);
  const tls = { ca: readFileSync(at("pki", "ca.crt"), "utf8") };
  const url = `https://${network.kubernetes}/version`;
  await daemon.ready("Services have addresses", async () => (await fetch(url, { tls })).ok);
}
