/** Where Envoy's admin interface listens. */
export type AdminAddress = { readonly host: string; readonly port: number } | { readonly path: string };

export interface Plan {
  readonly admin: AdminAddress;
  /** Beginnings of the admin paths that are allowed; all of them where this is undefined. */
  readonly allowPaths?: readonly string[];
  /** The port on 127.0.0.1 of the first listener; 0 takes any. */
  readonly listenerPort: number;
  /** Without it one, HTTP, that sends everything on to the upstream. */
  readonly listeners?: readonly ListenerPlan[];
  readonly upstreamPort: number;
  /** Names the upstream as Istio names the app, and shows no more statistics than Istio's bootstrap does. */
  readonly isLikeIstio?: boolean;
  /** Envoy is not LIVE before a control plane has told it where the upstream is, or how to route to it. */
  readonly waitsFor?: { readonly what: Late; readonly controlPlanePort: number };
}

/** A listener that sends everything on: to the upstream, or as bytes to another port. */
export interface ListenerPlan {
  /** Also the stat_prefix of what it does. */
  readonly name: string;
  /** Its address; 127.0.0.1 without it. */
  readonly host?: string;
  /** Without it any port; its statistics then have its name: with port 0 all such listeners would share theirs. */
  readonly port?: number;
  readonly direction?: "INBOUND" | "OUTBOUND";
  /** Not HTTP, which is HTTP/1.1 and HTTP/2, with WebSockets, but TCP, to this port of 127.0.0.1. */
  readonly tcpPort?: number;
  /** Sends on nothing but this path, to a path of the admin interface, where that is on a port. */
  readonly asksAdmin?: { readonly path: string; readonly adminPath: string };
}

/** What a control plane may be late with. Until then Envoy is PRE_INITIALIZING without endpoints, INITIALIZING without routes. */
export type Late = "endpoints" | "routes";

/** Envoy's bootstrap configuration: listeners to one upstream (envoyproxy.io, api-v3/config/bootstrap/v3). */
export function bootstrap(plan: Plan): object {
  const { admin, allowPaths, waitsFor, upstreamPort, listeners = [{ name: "outbound" }] } = plan;
  const app = plan.isLikeIstio === true ? "inbound|8080||" : "app";
  const address = "path" in admin ? { pipe: { path: admin.path } } : socket(admin.host, admin.port);
  const controlPlane = waitsFor === undefined ? [] : [cluster("control-plane", waitsFor.controlPlanePort)];
  return {
    node: { id: "job", cluster: "test" },
    admin: {
      address,
      ...(allowPaths === undefined ? {} : { allow_paths: allowPaths.map((path) => ({ prefix: path })) }),
    },
    ...(plan.isLikeIstio === true ? { stats_config: istioStats } : {}),
    static_resources: {
      listeners: listeners.map((each, at) =>
        listener(at === 0 ? { port: plan.listenerPort, ...each } : each, { app, waitsFor }),
      ),
      clusters: [
        ...controlPlane,
        waitsFor?.what === "endpoints" ? lateCluster() : cluster(app, upstreamPort),
        ...listeners.flatMap(({ name, tcpPort }) => (tcpPort === undefined ? [] : cluster(name, tcpPort))),
        ...("port" in admin && listeners.some(({ asksAdmin }) => asksAdmin) ? [cluster(ADMIN, admin.port)] : []),
      ],
    },
  };
}

/** The resource that makes the configuration whole, as a control plane sends it. */
export function lateResource(what: Late, upstreamPort: number): object {
  if (what === "routes") return { "@type": type("config.route.v3.RouteConfiguration"), ...routesTo("app") };
  return { "@type": type("config.endpoint.v3.ClusterLoadAssignment"), ...endpoints("app", upstreamPort) };
}

/** istio pkg/bootstrap/config.go, requiredEnvoyStatsMatcherInclusion*. */
const istioStats = {
  stats_matcher: {
    inclusion_list: {
      patterns: [{ prefix: "server" }, { prefix: "listener_manager" }, { suffix: "downstream_cx_active" }],
    },
  },
};

interface Upstream {
  /** The cluster's name. */
  readonly app: string;
  readonly waitsFor: Plan["waitsFor"];
}

function listener(plan: ListenerPlan, upstream: Upstream): object {
  const { name, host = "127.0.0.1", port = 0, direction, tcpPort, asksAdmin } = plan;
  return {
    name,
    address: socket(host, port),
    ...(port === 0 ? { stat_prefix: name } : {}),
    ...(direction === undefined ? {} : { traffic_direction: direction }),
    filter_chains: [{ filters: [tcpPort === undefined ? httpManager(name, upstream, asksAdmin) : tcpProxy(name)] }],
  };
}

function httpManager(name: string, { app, waitsFor }: Upstream, asksAdmin: ListenerPlan["asksAdmin"]): object {
  const rds = { route_config_name: ROUTES, config_source: controlPlaneSource };
  const routes = asksAdmin === undefined ? routesTo(app) : routeToAdmin(asksAdmin);
  return filter("network.http_connection_manager", "network.http_connection_manager.v3.HttpConnectionManager", {
    stat_prefix: name,
    ...(waitsFor?.what === "routes" ? { rds } : { route_config: routes }),
    stream_idle_timeout: "0s",
    upgrade_configs: [{ upgrade_type: "websocket" }],
    http_filters: [filter("http.router", "http.router.v3.Router", {})],
  });
}

function tcpProxy(name: string): object {
  return filter("network.tcp_proxy", "network.tcp_proxy.v3.TcpProxy", { stat_prefix: name, cluster: name });
}

function filter(name: string, of: string, config: object): object {
  return { name: `envoy.filters.${name}`, typed_config: { "@type": type(`extensions.filters.${of}`), ...config } };
}

const ROUTES = "app";
const ADMIN = "admin";

function routesTo(cluster: string): object {
  return routesOf({ match: { prefix: "/" }, route: { cluster, timeout: "0s" } });
}

function routeToAdmin({ path, adminPath }: NonNullable<ListenerPlan["asksAdmin"]>): object {
  return routesOf({ match: { path }, route: { cluster: ADMIN, prefix_rewrite: adminPath } });
}

function routesOf(route: object): object {
  return { name: ROUTES, virtual_hosts: [{ name: "app", domains: ["*"], routes: [route] }] };
}

/** Asked over HTTP and for ever, as Istio's bootstrap has it: Envoy's own default gives up after 15 s and turns LIVE. */
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

function cluster(name: string, port: number): object {
  return { name, type: "STATIC", load_assignment: endpoints(name, port) };
}

function endpoints(name: string, port: number): object {
  return { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address: socket("127.0.0.1", port) } }] }] };
}

function socket(address: string, port: number): object {
  return { socket_address: { address, port_value: port } };
}

function type(name: string): string {
  return `type.googleapis.com/envoy.${name}`;
}
