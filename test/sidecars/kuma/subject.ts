import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { envoyPath, envoyVersion } from "../../../build/setup/envoy.mjs";
import type { Mesh } from "../drain.ts";
import type { Pod } from "../pod.ts";
import { redirect } from "../redirect.ts";
import type { Beside } from "../subject.ts";
import { startControlPlane } from "../xds/control-plane.ts";
import { from, http, http2, listener, originalDestination, socket, staticCluster, tcp } from "../xds/resources.ts";

/** How Envoy's admin interface listens. */
type Admin = "unix" | "tcp";

/** The name of the admin interface's socket, in kuma-dp's work folder. */
export const socketName = "kuma-envoy-admin.sock";

const xdsPort = 5678;
const userId = 5678;
const appPort = 8080;
const outside = { http: 9000, tcp: 9001 };
/** The address of services, to which the app connects. */
const service = "198.18.0.9";

/**
 * Returns Envoy with the bootstrap of Kuma 2.14.3 (pkg/xds/bootstrap/template_v3.go), the listeners that Kuma sends for
 * its transparent proxy, and connections redirected to it as there. It has no TLS to the control plane; kuma-dp.ts says
 * what there is of kuma-dp.
 */
export function kuma(admin: Admin): Mesh {
  return {
    title: `Envoy ${envoyVersion} as Kuma configures it (${admin})`,
    sidecar: "kuma",
    foundBy: /kuma\.io\/sidecar-injected/,
    env: { EBB_POD_ANNOTATIONS: join(import.meta.dirname, "annotations") },
    ready: admin === "unix" ? { at: "9902/ready", status: 200 } : { at: "9901/ready", status: 200 },
    exitCode: 0,
    quitOutcome: /^exited$/,
    secondQuit: { code: 69, outcome: /^connection refused/ },
    isUpWhileHeld: true,
    appPort,
    inboundPort: appPort,
    outbound: { ...outside, host: () => service },
    start: (pod, isHeld = false) => startKuma(pod, admin, isHeld),
  };
}

async function startKuma(pod: Pod, admin: Admin, isHeld: boolean): Promise<Beside> {
  const folder = mkdtempSync(join(pod.temporary, "kuma-dp-"));
  const seen = join("/tmp", basename(folder)); // by the containers
  chownSync(folder, userId, userId);
  chmodSync(folder, 0o711);
  await redirect(pod, { userId, notLed: "9901,9902" });
  const control = { port: xdsPort, folder, resources: resources(pod) };
  if (!isHeld) await startControlPlane(pod, control);
  const path = join(folder, "bootstrap.json");
  const adminSocket = admin === "unix" ? join(seen, socketName) : undefined;
  await Bun.write(path, JSON.stringify(bootstrap(seen, adminSocket)));
  chownSync(path, userId, userId);
  const flags = ["--drain-time-s", "30", "--disable-hot-restart", "-l", "warning"];
  const kumaDp = [process.execPath, join(import.meta.dirname, "kuma-dp.ts"), adminSocket ?? "tcp"];
  const container = await pod.start([...kumaDp, envoyPath() ?? "envoy", "-c", path, ...flags]);
  void container.ended.then(() => rmSync(folder, { recursive: true, force: true }));
  const where = admin === "unix" ? { admin: `unix:${join(folder, socketName)}` } : {};
  return { container, ...where, release: () => startControlPlane(pod, control) };
}

function bootstrap(workdir: string, adminSocket: string | undefined): object {
  const ads = { ads: {}, initial_fetch_timeout: "0s", resource_api_version: "V3" };
  const { "@type": _, ...xds } = staticCluster("ads_cluster", "127.0.0.1", xdsPort, http2) as Record<string, unknown>;
  return {
    node: {
      ...{ id: "default.web-7d9c5b6f4-abcde.shop", cluster: "web" },
      metadata: {
        ...{ workdir, "dataplane.admin.port": "9901", "dataplane.admin.address": "127.0.0.1" },
        ...{ "dataplane.readinessReporter.port": "9902", "dataplane.proxyType": "dataplane" },
      },
    },
    layered_runtime: {
      layers: [{ name: "kuma", static_layer: { "re2.max_program_size.error_level": 4_294_967_295 } }],
    },
    stats_config: {
      stats_tags: [
        { tag_name: "name", regex: "^grpc\\.((.+)\\.)" },
        { tag_name: "status", regex: "^grpc.*streams_closed(_([0-9]+))" },
        { tag_name: "worker", regex: "(worker_([0-9]+)\\.)" },
        { tag_name: "listener", regex: "((.+?)\\.)rbac\\." },
      ],
    },
    dynamic_resources: {
      ...{ lds_config: ads, cds_config: ads },
      ads_config: {
        ...{ api_type: "GRPC", transport_api_version: "V3", set_node_on_first_message_only: true },
        grpc_services: [{ envoy_grpc: { cluster_name: "ads_cluster" } }],
      },
    },
    static_resources: { clusters: [xds] },
    admin: {
      address: adminSocket === undefined ? socket("127.0.0.1", 9901) : { pipe: { path: adminSocket, mode: 0o600 } },
    },
  };
}

/** The source address of the cluster's own connections, by which they are not redirected. */
const own = from("127.0.0.6");

function resources({ address, outside: host }: Pod): readonly object[] {
  const inbound = { direction: "INBOUND", host: address } as const;
  const outbound = (port: number, filter: object): object =>
    listener({
      name: `outbound:${service}:${port}`,
      host: service,
      port,
      direction: "OUTBOUND",
      isBound: false,
      filter,
    });
  const passthrough = (direction: "INBOUND" | "OUTBOUND", port: number): object => {
    const name = `${direction.toLowerCase()}:passthrough:ipv4`;
    const filter = tcp(name.replaceAll(":", "_"), name);
    return listener({ name, host: "0.0.0.0", port, direction, handsOver: true, filter });
  };
  return [
    listener({
      ...{ ...inbound, name: `inbound:${address}:${appPort}`, port: appPort, isBound: false },
      filter: http(`localhost_${appPort}`, `localhost:${appPort}`),
    }),
    passthrough("INBOUND", 15_006),
    passthrough("OUTBOUND", 15_001),
    outbound(outside.http, http("web", "web")),
    outbound(outside.tcp, tcp("echo", "echo")),
    listener({
      ...inbound,
      name: "kuma:envoy:admin",
      port: 9901,
      filter: http("kuma_envoy_admin", "kuma:readiness", "/ready"),
    }),
    staticCluster(`localhost:${appPort}`, address, appPort, { ...own, alt_stat_name: `localhost_${appPort}` }),
    originalDestination("inbound:passthrough:ipv4", own),
    originalDestination("outbound:passthrough:ipv4"),
    staticCluster("web", host, outside.http),
    staticCluster("echo", host, outside.tcp),
    staticCluster("kuma:readiness", "127.0.0.1", 9902),
  ];
}
