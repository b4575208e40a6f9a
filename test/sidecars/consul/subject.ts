import { join } from "node:path";
import { envoyPath, envoyVersion } from "../../../build/setup/envoy.mjs";
import { temporaryFolder } from "../../harness/ebb.ts";
import type { Mesh } from "../drain.ts";
import type { Pod } from "../pod.ts";
import type { Beside } from "../subject.ts";
import { startControlPlane } from "../xds/control-plane.ts";
import { http, http2, listener, socket, staticCluster, tcp } from "../xds/resources.ts";

/** The port at which consul-dataplane serves xDS to its Envoy; in reality a random one. */
const xdsPort = 1234;
const appPort = 8080;
const outside = { http: 9000, tcp: 9001 };
const publicPort = 20_000;

/**
 * Envoy with the configuration and flags that consul-dataplane gives it (consul-dataplane 28a963a, internal/bootstrap
 * and pkg/consuldp) and the listeners that Consul sends (consul agent/xds). No registry has consul-dataplane itself in
 * a form that builds, so only its xDS is here.
 */
export const consul: Mesh = {
  title: `Envoy ${envoyVersion} as Consul configures it`,
  sidecar: "consul",
  foundBy: /connect-inject-status/,
  env: { EBB_POD_ANNOTATIONS: join(import.meta.dirname, "annotations") },
  ready: { at: "19000/ready", status: 200 },
  exitCode: 0,
  quitOutcome: /^exited$/,
  secondQuit: { code: 69, outcome: /^connection refused/ },
  isUpWhileHeld: true,
  appPort,
  inboundPort: publicPort,
  outbound: { ...outside, host: () => "127.0.0.1" },
  start: startConsul,
};

async function startConsul(pod: Pod, isHeld = false): Promise<Beside> {
  const folder = temporaryFolder();
  const control = { port: xdsPort, folder: folder.path, resources: resources(pod) };
  if (!isHeld) await startControlPlane(pod, control);
  const bootstrapFile = join(folder.path, "bootstrap.json");
  await Bun.write(bootstrapFile, JSON.stringify(bootstrap()));
  const flags = ["--drain-time-s", "30", "--drain-strategy", "immediate", "--disable-hot-restart"];
  const container = await pod.start([envoyPath() ?? "envoy", "-c", bootstrapFile, ...flags, "-l", "warning"]);
  void container.ended.then(() => folder[Symbol.dispose]());
  return { container, release: () => startControlPlane(pod, control) };
}

function bootstrap(): object {
  const ads = { ads: {}, initial_fetch_timeout: "0s", resource_api_version: "V3" };
  const { "@type": _, ...xds } = staticCluster("consul-dataplane", "127.0.0.1", xdsPort, http2) as Record<
    string,
    unknown
  >;
  return {
    admin: { access_log_path: "/dev/null", address: socket("127.0.0.1", 19_000) },
    node: {
      cluster: "web",
      id: "web-7d9c5b6f4-abcde-web-sidecar-proxy",
      metadata: { node_name: "node1-virtual", namespace: "default", partition: "default" },
    },
    layered_runtime: {
      layers: [{ name: "base", static_layer: { "re2.max_program_size.error_level": 1_048_576 } }],
    },
    static_resources: { clusters: [xds] },
    stats_config: { stats_tags: [{ tag_name: "local_cluster", fixed_value: "web" }], use_all_default_tags: true },
    dynamic_resources: {
      ...{ lds_config: ads, cds_config: ads },
      ads_config: {
        ...{ api_type: "DELTA_GRPC", transport_api_version: "V3" },
        grpc_services: { envoy_grpc: { cluster_name: "consul-dataplane" } },
      },
    },
  };
}

function resources({ address, outside: host }: Pod): readonly object[] {
  const upstream = (name: string, port: number, filter: object): object =>
    listener({ name: `${name}:127.0.0.1:${port}`, host: "127.0.0.1", port, direction: "OUTBOUND", filter });
  return [
    listener({
      name: `public_listener:${address}:${publicPort}`,
      ...{ host: address, port: publicPort, direction: "INBOUND" },
      filter: http("public_listener", "local_app"),
    }),
    upstream("web", outside.http, http("upstream.web.default.default.dc1", "web.default.dc1")),
    upstream("echo", outside.tcp, tcp("upstream.echo.default.default.dc1", "echo.default.dc1")),
    staticCluster("local_app", "127.0.0.1", appPort),
    staticCluster("web.default.dc1", host, outside.http),
    staticCluster("echo.default.dc1", host, outside.tcp),
  ];
}
