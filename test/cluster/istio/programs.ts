import { compiledProgram } from "../../sidecars/compile.ts";

/** Returns the path of the executable of istiod or of its sidecar's agent, both of one version. */
export function istioProgram(name: "pilot-agent" | "pilot-discovery"): string {
  return compiledProgram(name).path;
}

/** Returns the path of the template of the bootstrap that pilot-agent gives Envoy. */
export function istioBootstrap(): string {
  return compiledProgram("pilot-agent").file("envoy_bootstrap.json");
}

/** Returns the path of a chart of Istio's. */
export function istioChart(name: "base" | "istio-discovery"): string {
  return compiledProgram("pilot-discovery").file(name);
}
