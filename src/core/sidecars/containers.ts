import type { SidecarName } from "./sidecar.ts";

interface Marks {
  /** The container's name, as injectors and charts give it. */
  readonly name: RegExp;
  /** The last part of its image's name. */
  readonly image?: RegExp;
}

/** Which containers of a pod are the sidecars that ebb knows, by their names or images. */
const marks: readonly (readonly [SidecarName, Marks])[] = [
  // istio: pkg/kube/inject/inject.go (ProxyContainerName); its image is istio/proxyv2
  ["istio", { name: /^istio-proxy$/, image: /^proxyv2$/ }],
  // envoyproxy/envoy, -distroless, -contrib, ...; App Mesh and OSM call the container envoy, consul-k8s before 1.0 envoy-sidecar
  ["envoy", { name: /^envoy(-proxy|-sidecar)?$/, image: /^envoy(-distroless|-contrib|-alpine|-debug|-dev)*$/ }],
  // linkerd2: pkg/k8s/labels.go (ProxyContainerName)
  ["linkerd", { name: /^linkerd-proxy$/ }],
  // kuma: pkg/plugins/runtime/k8s/util (KumaSidecarContainerName)
  ["kuma", { name: /^kuma-sidecar$/, image: /^kuma-dp$/ }],
  // consul-k8s: control-plane/connect-inject/webhook/consul_dataplane_sidecar.go; one for each service of a pod with several
  ["consul", { name: /^consul-dataplane(-.+)?$/, image: /^consul-dataplane$/ }],
  // dapr: pkg/injector (the container is daprd)
  ["dapr", { name: /^daprd$/, image: /^daprd$/ }],
  // vault-k8s: agent-inject/agent/container_sidecar.go
  ["vault-agent", { name: /^vault-agent$/ }],
  // cloud-sql-proxy-operator: internal/workload/names.go (ContainerPrefix)
  ["cloud-sql-proxy", { name: /^(cloud-?sql-proxy|csql-.+)$/, image: /^(cloud-sql-proxy|gce-proxy)$/ }],
];

/** Those that stand beside an app, too, but are nothing to wait for: OpenTelemetry's operator, Jaeger's, X-Ray, OPA-Envoy. */
const others = /^(otc-container|jaeger-agent|xray-daemon|opa-istio|opa-envoy)$/;

/** The sidecar that this container is; undefined: none that ebb knows. */
export function sidecarIn(name: string, image: string | undefined): SidecarName | undefined {
  const base = image === undefined ? undefined : baseOf(image);
  const found = marks.find(([, by]) => by.name.test(name) || (base !== undefined && by.image?.test(base) === true));
  return found?.[0];
}

export function isSidecar(name: string, image: string | undefined): boolean {
  return others.test(name) || sidecarIn(name, image) !== undefined;
}

/** `envoy` for `docker.io/envoyproxy/envoy:v1.31@sha256:...`. */
function baseOf(image: string): string {
  return withoutTag(image).replace(/^.*\//s, "");
}

/** The image's name without tag and digest; a port of its registry stays. */
export function withoutTag(image: string): string {
  return image.replace(/@.*$/s, "").replace(/:[^/]*$/s, "");
}
