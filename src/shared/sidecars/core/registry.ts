import type { Inbound } from "./inbound.ts";
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

/** The sidecars that ebb knows. Nothing in src/ names one of them but this table and the file of its kind. */
const sidecarKinds = {
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

/** The names of all sidecars that ebb knows; detection goes through them in this order. */
export const sidecarNames = Object.keys(sidecarKinds) as readonly SidecarName[];

/** Returns what ebb knows of a sidecar: its ports and paths, how it is detected, what its answers mean. */
export function kindOf(name: SidecarName): SidecarKind {
  return sidecarKinds[name];
}

/**
 * Reports whether traffic passes through a sidecar. None passes through Dapr's and the like: there is nothing to drain.
 */
export function isProxy(name: SidecarName): boolean {
  return kindOf(name).role === "proxy";
}

/**
 * Returns how to recognize the inbound side of a sidecar's Envoy. Returns undefined for `custom` and for kinds without
 * one.
 */
export function inboundOf(name: SidecarName | "custom"): Inbound | undefined {
  return name === "custom" ? undefined : kindOf(name).inbound;
}
