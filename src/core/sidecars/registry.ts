import type { Inbound } from "../envoy/inbound.ts";
import { alloydbAuthProxy } from "./kinds/alloydb-auth-proxy.ts";
import { cloudSqlProxy } from "./kinds/cloud-sql-proxy.ts";
import { consul } from "./kinds/consul.ts";
import { dapr } from "./kinds/dapr.ts";
import { envoy } from "./kinds/envoy.ts";
import { istio } from "./kinds/istio.ts";
import type { SidecarKind } from "./kinds/kind.ts";
import { kuma } from "./kinds/kuma.ts";
import { linkerd } from "./kinds/linkerd.ts";
import { vaultAgent } from "./kinds/vault-agent.ts";

/** The sidecars that ebb knows. Beside these files nothing in src/ names one. */
export const sidecarKinds = {
  istio,
  envoy,
  linkerd,
  kuma,
  consul,
  dapr,
  "vault-agent": vaultAgent,
  "cloud-sql-proxy": cloudSqlProxy,
  "alloydb-auth-proxy": alloydbAuthProxy,
} as const satisfies Readonly<Record<string, SidecarKind>>;

export type SidecarName = keyof typeof sidecarKinds;

export const sidecarNames = Object.keys(sidecarKinds) as readonly SidecarName[];

/** Returns what ebb knows of a sidecar: ports, paths, how it is detected. */
export function kindOf(name: SidecarName): SidecarKind {
  return sidecarKinds[name];
}

/** Returns which listeners and clusters of a sidecar's Envoy are inbound; undefined for `custom`. */
export function inboundOf(name: SidecarName | "custom"): Inbound | undefined {
  return name === "custom" ? undefined : kindOf(name).inbound;
}
