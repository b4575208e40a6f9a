import type { HttpTarget } from "../../../shared/core/address.ts";
import type { PortFinding } from "../../../shared/sidecars/core/identify.ts";
import { targetOf } from "../../../shared/sidecars/core/own-probes.ts";
import type { Probe } from "../../../shared/sidecars/core/probe.ts";
import { kindOf, type SidecarName } from "../../../shared/sidecars/core/registry.ts";
import type { Sidecar } from "../../../shared/sidecars/core/sidecar.ts";
import type { StatusFinding } from "./snapshot.ts";

/** A proxy that answers where no sidecar is asked. */
export interface Elsewhere {
  readonly name: SidecarName;
  /** The URL of its admin interface. */
  readonly admin: string;
}

/** Returns the proxies that were found at ports at which none of these sidecars is asked. */
export function elsewhereIn(findings: readonly PortFinding[], sidecars: readonly Sidecar[]): readonly Elsewhere[] {
  const askedPorts = new Set(sidecars.flatMap(portsOf));
  const all = findings.map(({ name, admin }) => ({ name, admin: admin ?? kindOf(name).admin }));
  return all.filter(({ admin }) => !askedPorts.has(portOf(targetOf(admin))));
}

function portsOf({ envoy, ready, quits }: Sidecar): readonly number[] {
  const targets = [...(envoy === undefined ? [] : [envoy.admin]), ...quits.map(({ target }) => target)];
  return [...targets, ...ready.flatMap(targetsOf)].map(portOf);
}

function targetsOf(probe: Probe): readonly HttpTarget[] {
  if (probe.kind === "any") return probe.probes.flatMap(targetsOf);
  return probe.kind === "http" ? [probe.target] : [];
}

/** Returns a target's port; 0 for a unix socket. */
function portOf({ address }: HttpTarget): number {
  return address.kind === "tcp" ? address.port : 0;
}

export function elsewhereFinding({ name, admin }: Elsewhere): StatusFinding {
  const message = `${name} answers at ${admin}, where nothing is waited for: --sidecar ${name} --admin ${admin} would name it`;
  return { kind: "elsewhere", message };
}
