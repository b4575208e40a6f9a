/** The address on which Envoy's admin interface listens. */
export type AdminAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/** A plan of an Envoy. */
export interface Plan {
  readonly admin: AdminAddress;
  /** Envoy's `node`, which it tells in /server_info; by default one with id `job`. */
  readonly node?: object;
  /** The beginnings of the admin paths that are allowed; undefined for all paths. */
  readonly allowPaths?: readonly string[];
  /** The port of the first listener; by default a free one. */
  readonly listenerPort?: number;
  /** The listeners; by default one, HTTP, that sends everything on to the upstream. */
  readonly listeners?: readonly ListenerPlan[];
  /** The upstream's port on 127.0.0.1. */
  readonly upstreamPort: number;
  /** The folder of `listeners.json` and `clusters.json`, which Envoy then reads as if from a control plane. */
  readonly from?: string;
  /** Whether the clusters are named and configured as by Istio's control plane. */
  readonly isLikeIstio?: boolean;
  /** The patterns of the statistics that are shown; by default all, or those that Istio shows. */
  readonly shows?: readonly object[];
  /** The patterns of those that are hidden, in place of `shows`. */
  readonly hides?: readonly object[];
  /** The number of further listeners that are on no port, as outbound ones to which iptables leads. */
  readonly unbound?: number;
  /** What a control plane has to tell Envoy, the upstream's endpoints or routes to it, before Envoy is LIVE. */
  readonly waitsFor?: { readonly what: Late; readonly port: number };
}

/** A listener that sends everything on: to the upstream, or as bytes to another port. */
export interface ListenerPlan {
  /** The name, which is also the stat_prefix of its filter. */
  readonly name: string;
  /** The stat_prefix of its filter, if that is not its name. */
  readonly statPrefix?: string;
  /** Its address; by default 0.0.0.0: one on loopback is outbound. */
  readonly host?: string;
  /**
   * Its port; by default a free one. Its statistics then have its name: with port 0 all such listeners would share
   * theirs.
   */
  readonly port?: number;
  readonly direction?: "INBOUND" | "OUTBOUND";
  /** The port to which it sends bytes (TCP); by default it is for HTTP/1.1 and HTTP/2, with WebSockets. */
  readonly tcpPort?: number;
  /** The port to which it sends HTTP requests, if that is not the upstream's. */
  readonly httpPort?: number;
  /** The address of that port; by default 127.0.0.1. */
  readonly toHost?: string;
  /** Whether what listens on `httpPort` speaks HTTP/2, as gRPC needs it; by default HTTP/1.1. */
  readonly isHttp2?: boolean;
  /** The only path that it sends on, and the path of the admin interface to which it does; that must be on a port. */
  readonly asksAdmin?: { readonly path: string; readonly adminPath: string };
  /** The time, such as `2s`, after which an idle HTTP connection is closed; by default an hour. */
  readonly idleTimeout?: string;
}

/** What a control plane may be late with. Without endpoints Envoy is PRE_INITIALIZING, without routes INITIALIZING. */
export type Late = "endpoints" | "routes";

/** The configuration of an Envoy with listeners to one upstream (envoyproxy.io, api-v3/config/bootstrap/v3). */
interface Configuration {
  readonly bootstrap: object;
  readonly listeners: readonly object[];
  readonly clusters: readonly object[];
}

/** Returns the configuration for a plan; listeners and clusters apart are for files, as a control plane sends them. */
export function configurationOf(plan: Plan): Configuration {
  const { admin, allowPaths, from } = plan;
  const address = "path" in admin ? { pipe: { path: admin.path } } : socket(admin.host, admin.port);
  const resources = { listeners: listenersOf(plan), clusters: clustersOf(plan) };
  const bootstrap = {
    node: plan.node ?? { id: "job", cluster: "test" },
    admin: {
      address,
      ...(allowPaths === undefined ? {} : { allow_paths: allowPaths.map((path) => ({ prefix: path })) }),
    },
    ...statsConfigOf(plan),
    ...(from === undefined ? { static_resources: resources } : { dynamic_resources: dynamicFrom(from) }),
  };
  const typed = (name: string, some: readonly object[]) =>
    some.map((each) => ({ "@type": type(`config.${name}`), ...each }));
  return {
    bootstrap,
    listeners: typed("listener.v3.Listener", resources.listeners),
    clusters: typed("cluster.v3.Cluster", resources.clusters),
  };
}

function statsConfigOf({ hides, isLikeIstio, shows = isLikeIstio === true ? istioStats : undefined }: Plan): object {
  if (hides !== undefined) return { stats_config: { stats_matcher: { exclusion_list: { patterns: hides } } } };
  return shows === undefined ? {} : { stats_config: { stats_matcher: { inclusion_list: { patterns: shows } } } };
}

function dynamicFrom(folder: string): object {
  const source = (name: string) => ({
    resource_api_version: "V3",
    path_config_source: { path: `${folder}/${name}.json`, watched_directory: { path: folder } },
  });
  return { lds_config: source("listeners"), cds_config: source("clusters") };
}

function listenersOf({
  listeners = [{ name: "outbound" }],
  listenerPort = 0,
  unbound = 0,
  ...plan
}: Plan): readonly object[] {
  const upstream = {
    app: appOf(plan),
    waitsFor: plan.waitsFor,
    originalPort: plan.isLikeIstio ? plan.upstreamPort : undefined,
  };
  return [
    ...listeners.map((each, at) => listener(at === 0 ? { port: listenerPort, ...each } : each, upstream)),
    ...Array.from({ length: unbound }, (_, at) => {
      const host = `10.96.${Math.floor(at / 250)}.${(at % 250) + 1}`;
      return {
        ...listener({ name: `${host}_80`, host, port: 80, direction: "OUTBOUND" }, upstream),
        bind_to_port: false,
      };
    }),
  ];
}

function clustersOf(plan: Plan): readonly object[] {
  const { admin, waitsFor, upstreamPort, listeners = [] } = plan;
  const app = appOf(plan);
  const upstream = plan.isLikeIstio === true ? originalDestination(app) : cluster(app, upstreamPort);
  return [
    ...(waitsFor === undefined ? [] : [cluster("control-plane", waitsFor.port)]),
    waitsFor?.what === "endpoints" ? lateCluster() : upstream,
    ...(plan.isLikeIstio === true ? [originalDestination("InboundPassthroughCluster")] : []),
    ...listeners.flatMap((each) =>
      each.tcpPort === undefined ? [] : [cluster(tcpCluster(each, app), each.tcpPort, each.toHost)],
    ),
    ...listeners.flatMap(({ name, httpPort, toHost, isHttp2 }) =>
      httpPort === undefined ? [] : [{ ...cluster(name, httpPort, toHost), ...(isHttp2 === true ? speaksHttp2 : {}) }],
    ),
    ...("port" in admin && listeners.some(({ asksAdmin }) => asksAdmin) ? [cluster(ADMIN, admin.port)] : []),
  ];
}

/** Returns the cluster's name: like the app's for inbound connections of Istio, otherwise the listener's. */
function tcpCluster({ name, tcpPort, direction }: ListenerPlan, app: string): string {
  return app !== "app" && direction === "INBOUND" ? `inbound|${tcpPort}||` : name;
}

function appOf({ isLikeIstio }: Pick<Plan, "isLikeIstio">): string {
  return isLikeIstio === true ? "inbound|8080||" : "app";
}

/** Returns the resource that completes the configuration, as a control plane sends it. */
export function lateResource(what: Late, upstreamPort: number): object {
  if (what === "routes") return { "@type": type("config.route.v3.RouteConfiguration"), ...routesTo("app") };
  return { "@type": type("config.endpoint.v3.ClusterLoadAssignment"), ...endpoints("app", upstreamPort) };
}

/** The patterns of the statistics that Istio shows: pilot-agent 1.31.1 renders them without an annotation. */
export const istioStats = [
  { prefix: "reporter=" },
  { prefix: "cluster_manager" },
  { prefix: "listener_manager" },
  { prefix: "server" },
  { prefix: "cluster.xds-grpc" },
  { prefix: "wasm" },
  { suffix: "rbac.allowed" },
  { suffix: "rbac.denied" },
  { suffix: "shadow_allowed" },
  { suffix: "shadow_denied" },
  { safe_regex: { regex: "vhost\\..*\\.route\\..*" } },
  { prefix: "component" },
  { prefix: "istio" },
];

interface Upstream {
  /** The cluster's name. */
  readonly app: string;
  /** The port that clients ask for; undefined unless the cluster is of type ORIGINAL_DST. */
  readonly originalPort: number | undefined;
  readonly waitsFor: Plan["waitsFor"];
}

function listener(plan: ListenerPlan, upstream: Upstream): object {
  const { name, host = "0.0.0.0", port = 0, direction, tcpPort } = plan;
  return {
    name,
    address: socket(host, port),
    ...(port === 0 ? { stat_prefix: name } : {}),
    ...(direction === undefined ? {} : { traffic_direction: direction }),
    filter_chains: [
      {
        filters: [tcpPort === undefined ? httpManager(plan, upstream) : tcpProxy(name, tcpCluster(plan, upstream.app))],
      },
    ],
  };
}

function httpManager(
  { name, statPrefix = name, httpPort, asksAdmin, idleTimeout }: ListenerPlan,
  { app, waitsFor, originalPort }: Upstream,
): object {
  const rds = { route_config_name: ROUTES, config_source: controlPlaneSource };
  const toApp = httpPort === undefined ? routesTo(app, originalPort) : routesTo(name);
  const routes = asksAdmin === undefined ? toApp : routeToAdmin(asksAdmin);
  return filter("network.http_connection_manager", "network.http_connection_manager.v3.HttpConnectionManager", {
    stat_prefix: statPrefix,
    ...(waitsFor?.what === "routes" ? { rds } : { route_config: routes }),
    stream_idle_timeout: "0s",
    ...(idleTimeout === undefined ? {} : { common_http_protocol_options: { idle_timeout: idleTimeout } }),
    upgrade_configs: [{ upgrade_type: "websocket" }],
    http_filters: [filter("http.router", "http.router.v3.Router", {})],
  });
}

function tcpProxy(name: string, cluster: string): object {
  return filter("network.tcp_proxy", "network.tcp_proxy.v3.TcpProxy", { stat_prefix: name, cluster });
}

function filter(name: string, of: string, config: object): object {
  return { name: `envoy.filters.${name}`, typed_config: { "@type": type(`extensions.filters.${of}`), ...config } };
}

const ROUTES = "app";
const ADMIN = "admin";

/** Returns routes to a cluster. In place of iptables a header says which port was asked for. */
function routesTo(cluster: string, originalPort?: number): object {
  const header = { key: "x-envoy-original-dst-host", value: `127.0.0.1:${originalPort}` };
  const headers = originalPort === undefined ? {} : { request_headers_to_add: [{ header }] };
  return routesOf({ match: { prefix: "/" }, route: { cluster, timeout: "0s" }, ...headers });
}

function routeToAdmin({ path, adminPath }: NonNullable<ListenerPlan["asksAdmin"]>): object {
  return routesOf({ match: { path }, route: { cluster: ADMIN, prefix_rewrite: adminPath } });
}

function routesOf(route: object): object {
  return { name: ROUTES, virtual_hosts: [{ name: "app", domains: ["*"], routes: [route] }] };
}

/**
 * A control plane that Envoy asks over HTTP without end, as in Istio's bootstrap: by default Envoy gives up after 15 s.
 */
const controlPlaneSource = {
  resource_api_version: "V3",
  initial_fetch_timeout: "0s",
  api_config_source: {
    api_type: "REST",
    transport_api_version: "V3",
    cluster_names: ["control-plane"],
    refresh_delay: "60s",
    request_timeout: "60s",
  },
};

function lateCluster(): object {
  return { name: "app", type: "EDS", eds_cluster_config: { eds_config: controlPlaneSource } };
}

function cluster(name: string, port: number, host?: string): object {
  return { name, type: "STATIC", load_assignment: endpoints(name, port, host) };
}

/** istio pilot/pkg/networking/core/cluster_builder.go, buildInboundCluster: no hosts before the first traffic. */
function originalDestination(name: string): object {
  return {
    name,
    type: "ORIGINAL_DST",
    lb_policy: "CLUSTER_PROVIDED",
    original_dst_lb_config: { use_http_header: true },
  };
}

const speaksHttp2 = {
  typed_extension_protocol_options: {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
      "@type": type("extensions.upstreams.http.v3.HttpProtocolOptions"),
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};

function endpoints(name: string, port: number, host = "127.0.0.1"): object {
  return { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address: socket(host, port) } }] }] };
}

function socket(address: string, port: number): object {
  return { socket_address: { address, port_value: port } };
}

function type(name: string): string {
  return `type.googleapis.com/envoy.${name}`;
}
