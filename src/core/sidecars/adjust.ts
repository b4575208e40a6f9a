import { type HttpTarget, parseHttpTarget } from "../address.ts";
import type { Header } from "../http-message.ts";
import type { Environment } from "../option.ts";
import type { Probe } from "../probe.ts";

// What sidecars have otherwise than their defaults, in a pod with these variables and annotations. Others' values: one that
// cannot be meant is left to the default, which the log then names.

/** The pod's annotations, as the downward API gives them. */
export type Annotations = ReadonlyMap<string, string>;

/** What this container can know of its pod. */
export interface PodFacts {
  readonly env: Environment;
  readonly annotations: Annotations;
}

/** What a pod has otherwise than the sidecar's defaults. */
export interface Adjustment {
  readonly admin?: string;
  readonly ready?: readonly Probe[];
  /** Where quits are sent. */
  readonly quits?: readonly HttpTarget[];
  /** For the quits. */
  readonly headers?: readonly Header[];
  readonly leaves?: string;
}

export function adjustKuma({ annotations }: PodFacts): Adjustment {
  return adminOn(annotations.get("kuma.io/envoy-admin-port"));
}

export function adjustVault({ annotations }: PodFacts): Adjustment {
  return adminOn(annotations.get("vault.hashicorp.com/agent-cache-listener-port"));
}

/** The token goes to daprd alone, and is never logged. */
export function adjustDapr({ env }: PodFacts): Adjustment {
  const token = env.DAPR_API_TOKEN ?? "";
  const isHeader = token !== "" && !/[\r\n\0]/.test(token);
  return { ...adminOn(env.DAPR_HTTP_PORT), ...(isHeader ? { headers: [["dapr-api-token", token]] } : {}) };
}

/** A pod with several services has a sidecar for each, on the ports after (consul-k8s, webhook/consul_dataplane_sidecar.go). */
export function adjustConsul({ annotations }: PodFacts): Adjustment {
  const said = (name: string) => annotations.get(`consul.hashicorp.com/${name}`) || undefined;
  const path = said("sidecar-proxy-lifecycle-graceful-shutdown-path") ?? "";
  const first = portOf(said("sidecar-proxy-lifecycle-graceful-port")) ?? GRACEFUL_PORT;
  const services = said("connect-service")?.split(",").length ?? 1;
  const quits: HttpTarget[] = [];
  const ready: Probe[] = [];
  for (let index = 0; index < services; index += 1) {
    quits.push(onPort(first + index, path.startsWith("/") ? path : "/graceful_shutdown"));
    ready.push({ kind: "http", target: onPort(ADMIN_PORT + index, "/ready") });
  }
  const seconds = said("sidecar-proxy-lifecycle-shutdown-grace-period-seconds");
  return {
    quits,
    ...(services === 1 ? {} : { ready }),
    ...(seconds === undefined ? {} : { leaves: `after its shutdown grace period (${seconds}s)` }),
  };
}

const GRACEFUL_PORT = 20600;
const ADMIN_PORT = 19000;

/** One for each of the operator's proxies in this pod. */
export function adjustCloudSql({ env }: PodFacts): Adjustment {
  const quits: HttpTarget[] = [];
  const ready: Probe[] = [];
  for (const url of (env.CSQL_PROXY_QUIT_URLS ?? "").split(" ")) {
    const target = parseHttpTarget(url);
    if (target === undefined) continue; // a blank, or named as a bad value of --quit
    quits.push(target);
    ready.push({ kind: "connect", address: target.address });
  }
  return quits.length === 0 ? {} : { quits, ready };
}

/** Whoever sees the pod's init containers says it so, where no injector's annotation does: `ebb inject` and `ebb webhook`, or a user. */
export function saysNative(annotations: Annotations, name: string): boolean {
  const names = annotations.get("ebb.dev/native");
  return names?.replaceAll(" ", "").split(",").includes(name) === true;
}

export function saysYes(value: string | undefined): boolean {
  return value !== undefined && /^(true|t|yes|y|1|on|enabled)$/i.test(value);
}

function adminOn(text: string | undefined): Adjustment {
  const port = portOf(text);
  return port === undefined ? {} : { admin: `http://localhost:${port}` };
}

function portOf(text = ""): number | undefined {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) < 65536 ? Number(text) : undefined;
}

function onPort(port: number, path: string): HttpTarget {
  const address = { kind: "tcp", host: "localhost", port } as const;
  return { address, isSecure: false, authority: `localhost:${port}`, path };
}
