import { compiledProgram } from "../../sidecars/compile.ts";

/** The path of istiod's or the sidecar's executable, of one version. */
export function istioProgram(name: "pilot-agent" | "pilot-discovery"): string {
  return compiledProgram(name).path;
}

/** The bootstrap that pilot-agent gives Envoy. */
export function istioBootstrap(): string {
  return compiledProgram("pilot-agent").file("envoy_bootstrap.json");
}

/** A chart of Istio's own. */
export function istioChart(name: "base" | "istio-discovery"): string {
  return compiledProgram("pilot-discovery").file(name);
}
