// Resources of xDS as JSON (envoyproxy.io, api-v3), as control planes of meshes send them.

/** A plan of a listener. */
interface ListenerPlan {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly direction: "INBOUND" | "OUTBOUND";
  /**
   * Whether it is bound to its port, by default true; otherwise the listener to which iptables leads hands connections
   * over.
   */
  readonly isBound?: boolean;
  /** Whether it hands connections over to the listener of the port for which they were meant. */
  readonly handsOver?: boolean;
  /** What it does with a connection. */
  readonly filter: object;
}

/** Returns a listener. */
export function listener(plan: ListenerPlan): object {
  const { name, host, port, direction, isBound = true, handsOver = false, filter } = plan;
  return {
    "@type": type("config.listener.v3.Listener"),
    ...{ name, address: socket(host, port), traffic_direction: direction, bind_to_port: isBound },
    ...(handsOver ? { use_original_dst: true } : {}),
    filter_chains: [{ filters: [filter] }],
  };
}

/** Returns a filter that sends HTTP to a cluster: requests for `path` only, or all. */
export function http(statPrefix: string, cluster: string, path?: string): object {
  const match = path === undefined ? { prefix: "/" } : { path };
  const routes = [{ match, route: { cluster, timeout: "0s" } }];
  return {
    name: "envoy.filters.network.http_connection_manager",
    typed_config: {
      "@type": type("extensions.filters.network.http_connection_manager.v3.HttpConnectionManager"),
      stat_prefix: statPrefix,
      route_config: { name: cluster, virtual_hosts: [{ name: cluster, domains: ["*"], routes }] },
      http_filters: [
        {
          name: "envoy.filters.http.router",
          typed_config: { "@type": type("extensions.filters.http.router.v3.Router") },
        },
      ],
    },
  };
}

/** Returns a filter that sends all bytes to a cluster. */
export function tcp(statPrefix: string, cluster: string): object {
  return {
    name: "envoy.filters.network.tcp_proxy",
    typed_config: {
      "@type": type("extensions.filters.network.tcp_proxy.v3.TcpProxy"),
      ...{ stat_prefix: statPrefix, cluster },
    },
  };
}

/** Returns a cluster with one endpoint. */
export function staticCluster(name: string, host: string, port: number, more: object = {}): object {
  const endpoint = { address: socket(host, port) };
  return {
    "@type": type("config.cluster.v3.Cluster"),
    ...{ name, type: "STATIC", connect_timeout: "5s" },
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint }] }] },
    ...more,
  };
}

/** Returns a cluster that leads to the address for which a connection was meant. */
export function originalDestination(name: string, more: object = {}): object {
  const how = { type: "ORIGINAL_DST", lb_policy: "CLUSTER_PROVIDED", connect_timeout: "5s" };
  return { "@type": type("config.cluster.v3.Cluster"), name, ...how, ...more };
}

/** Returns a cluster's fields for connections from an address, by which iptables knows those of the proxy. */
export function from(address: string): object {
  return { upstream_bind_config: { source_address: { address, port_value: 0 } } };
}

/** Returns a socket address. */
export function socket(address: string, port: number): object {
  return { socket_address: { address, port_value: port } };
}

function type(name: string): string {
  return `type.googleapis.com/envoy.${name}`;
}

/** The fields of a cluster that is asked by HTTP/2, as for gRPC. */
export const http2 = {
  typed_extension_protocol_options: {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
      "@type": type("extensions.upstreams.http.v3.HttpProtocolOptions"),
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};
