import { images, namespace } from "../cluster.ts";
import { type Chart, render } from "../inject/helm.ts";
import { kubectl } from "../kubectl.ts";
import type { Container, KubeObject } from "../objects.ts";
import { createPod } from "../webhook/installation.ts";
import { installed, withEbb } from "../webhook/installed.ts";
import { istioChart } from "./programs.ts";

const system = "istio-system";

/** The labels of a namespace whose pods get Istio's sidecar. */
export const injected = { "istio-injection": "enabled" };

/**
 * Returns Istio's annotation for a native sidecar, or for none. Without it Istio's is native if the nodes support that.
 */
export function sidecarKind(isNative: boolean): Readonly<Record<string, string>> {
  return { "sidecar.istio.io/nativeSidecar": String(isNative) };
}

/** What Istio merges into its ordinary sidecar: `ebb hold` as preStop hook. The pod also needs what `installed` has. */
export const heldProxy: Container = withEbb({
  name: "istio-proxy",
  image: "auto", // without a tag, by which Kubernetes would always pull it
  imagePullPolicy: "IfNotPresent",
  lifecycle: { preStop: { exec: { command: [installed.path, "hold", "--sidecar", "istio"] } } },
});

/** Returns Istio's annotation that sets variables of a pod's sidecar. */
export function proxyEnvironment(variables: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return { "proxy.istio.io/config": JSON.stringify({ proxyMetadata: variables }) };
}

/**
 * Installs Istio from its own Helm charts, or applies them again. It stays for other tests, and ends with the cluster.
 * Resolves once pods get its sidecar.
 */
export async function startIstio(): Promise<void> {
  await apply([{ apiVersion: "v1", kind: "Namespace", metadata: { name: system } }]);
  await apply(await render(base));
  await apply(await render({ ...istiod("0.0.0.0"), only: "templates/service.yaml" }));
  await apply(await render(istiod(await istiodAddress())));
  await kubectl(["-n", system, "rollout", "status", "deployment/istiod", "--timeout=180s"]);
  await using here = await namespace(injected);
  await here.until("pods get Istio's sidecar", async () => {
    const { initContainers } = await createPod(here, {});
    return initContainers.includes("istio-proxy");
  });
}

/**
 * Resolves with the URL of istiod's HTTP port, which any pod can ask. It has an address, because there is no DNS here.
 */
export async function istiodUrl(): Promise<string> {
  return `http://${await istiodAddress()}:15014`;
}

function istiodAddress(): Promise<string> {
  return kubectl(["-n", system, "get", "service", "istiod", "-o", "jsonpath={.spec.clusterIP}"]);
}

async function apply(manifests: string | readonly KubeObject[]): Promise<void> {
  const stdin =
    typeof manifests === "string" ? manifests : JSON.stringify({ apiVersion: "v1", kind: "List", items: manifests });
  await kubectl(["apply", "--server-side", "--force-conflicts", "-f", "-"], { stdin });
}

const base: Chart = { release: "istio-base", path: istioChart("base"), namespace: system, values: {} };

/**
 * Returns istiod's chart, whose values make up for what this cluster lacks: DNS (proxies find istiod by its address,
 * and check the name in its certificate), and an Envoy with Istio's own filters (metadata exchange, ALPN, statistics).
 * It requests less processor time and memory.
 */
function istiod(address: string): Chart {
  const few = { cpu: "10m", memory: "64Mi" };
  return {
    release: "istiod",
    path: istioChart("istio-discovery"),
    namespace: system,
    values: {
      image: images.istiod,
      autoscaleEnabled: false,
      resources: { requests: few },
      env: { PILOT_ENABLE_METADATA_EXCHANGE: "false", PILOT_ENABLE_ALPN_FILTER: "false" },
      telemetry: { enabled: false },
      global: {
        caAddress: `${address}:15012`,
        proxy: { image: images.istioProxy, resources: { requests: few } },
        proxy_init: { image: images.istioProxy },
      },
      meshConfig: {
        defaultConfig: {
          discoveryAddress: `${address}:15012`,
          proxyMetadata: { ISTIOD_SAN: `istiod.${system}.svc` },
        },
      },
    },
  };
}
