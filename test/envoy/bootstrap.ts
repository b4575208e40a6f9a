/** Where Envoy's admin interface listens. */
export type AdminAddress = { readonly host: string; readonly port: number } | { readonly path: string };

export interface Plan {
  readonly admin: AdminAddress;
  /** Beginnings of the admin paths that are allowed; all of them where this is undefined. */
  readonly allowPaths?: readonly string[];
  /** The port on 127.0.0.1 of the listener, which sends everything on to the upstream; 0 takes any. */
  readonly listenerPort: number;
  readonly upstreamPort: number;
  /** Envoy is not LIVE before a control plane has told it where the upstream is, or how to route to it. */
  readonly waitsFor?: { readonly what: Late; readonly controlPlanePort: number };
}

/** What a control plane may be late with. Until then Envoy is PRE_INITIALIZING without endpoints, INITIALIZING without routes. */
export type Late = "endpoints" | "routes";

/** Envoy's bootstrap configuration: one listener, HTTP, to one upstream (envoyproxy.io, api-v3/config/bootstrap/v3). */
export function bootstrap(plan: Plan): object {
  const { admin, allowPaths, waitsFor, upstreamPort } = plan;
  const address = "path" in admin ? { pipe: { path: admin.path } } : socket(admin.host, admin.port);
  const controlPlane = waitsFor === undefined ? [] : [cluster("control-plane", waitsFor.controlPlanePort)];
  return {
    node: { id: "job", cluster: "test" },
    admin: {
      address,
      ...(allowPaths === undefined ? {} : { allow_paths: allowPaths.map((path) => ({ prefix: path })) }),
    },
    static_resources: {
      listeners: [listener(plan)],
      clusters: [...controlPlane, waitsFor?.what === "endpoints" ? lateCluster() : cluster("app", upstreamPort)],
    },
  };
}

/** The resource that makes the configuration whole, as a control plane sends it. */
export function lateResource(what: Late, upstreamPort: number): object {
  if (what === "routes") return { "@type": type("config.route.v3.RouteConfiguration"), ...routes };
  return { "@type": type("config.endpoint.v3.ClusterLoadAssignment"), ...endpoints("app", upstreamPort) };
}

function listener({ listenerPort, waitsFor }: Plan): object {
  const rds = { route_config_name: routes.name, config_source: controlPlaneSource };
  const manager = {
    "@type": type("extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
    stat_prefix: "outbound",
    ...(waitsFor?.what === "routes" ? { rds } : { route_config: routes }),
    http_filters: [
      {
        name: "envoy.filters.http.router",
        typed_config: { "@type": type("extensions.filters.http.router.v3.Router") },
      },
    ],
  };
  return {
    name: "outbound",
    address: socket("127.0.0.1", listenerPort),
    filter_chains: [{ filters: [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }] }],
  };
}

const routes = {
  name: "app",
  virtual_hosts: [{ name: "app", domains: ["*"], routes: [{ match: { prefix: "/" }, route: { cluster: "app" } }] }],
};

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
