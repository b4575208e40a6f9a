import type { Inbound } from "../envoy/inbound.ts";
import { cloudSqlProxy } from "./cloud-sql-proxy.ts";
import { consul } from "./consul.ts";
import { dapr } from "./dapr.ts";
import { envoy } from "./envoy.ts";
import { istio } from "./istio.ts";
import type { SidecarKind } from "./kind.ts";
import { kuma } from "./kuma.ts";
import { linkerd } from "./linkerd.ts";
import { vaultAgent } from "./vault-agent.ts";

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
} as const satisfies Readonly<Record<string, SidecarKind>>;

export type SidecarName = keyof typeof sidecarKinds;

export const sidecarNames = Object.keys(sidecarKinds) as readonly SidecarName[];

export function kindOf(name: SidecarName): SidecarKind {
  return sidecarKinds[name];
}

/** What of its Envoy is inbound; undefined: its user knows. */
export function inboundOf(name: SidecarName | "custom"): Inbound | undefined {
  return name === "custom" ? undefined : kindOf(name).inbound;
}
