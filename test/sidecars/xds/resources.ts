/** Resources of xDS as JSON (envoyproxy.io, api-v3), as control planes of meshes send them. */
export interface ListenerPlan {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly direction: "INBOUND" | "OUTBOUND";
  /** False: connections come from the listener that iptables leads to. */
  readonly isBound?: boolean;
  /** It gives connections to the listener of the port that they were meant for. */
  readonly handsOver?: boolean;
  /** What it does with a connection. */
  readonly filter: object;
}

export function listener(plan: ListenerPlan): object {
  const { name, host, port, direction, isBound = true, handsOver = false, filter } = plan;
  return {
    "@type": type("config.listener.v3.Listener"),
    ...{ name, address: socket(host, port), traffic_direction: direction, bind_to_port: isBound },
    ...(handsOver ? { use_original_dst: true } : {}),
    filter_chains: [{ filters: [filter] }],
  };
}

/** HTTP to a cluster, `path` alone or all. */
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

/** All bytes to a cluster. */
export function tcp(statPrefix: string, cluster: string): object {
  return {
    name: "envoy.filters.network.tcp_proxy",
    typed_config: {
      "@type": type("extensions.filters.network.tcp_proxy.v3.TcpProxy"),
      ...{ stat_prefix: statPrefix, cluster },
    },
  };
}

export function staticCluster(name: string, host: string, port: number, more: object = {}): object {
  const endpoint = { address: socket(host, port) };
  return {
    "@type": type("config.cluster.v3.Cluster"),
    ...{ name, type: "STATIC", connect_timeout: "5s" },
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint }] }] },
    ...more,
  };
}

/** To where the connection was meant for. */
export function originalDestination(name: string, more: object = {}): object {
  const how = { type: "ORIGINAL_DST", lb_policy: "CLUSTER_PROVIDED", connect_timeout: "5s" };
  return { "@type": type("config.cluster.v3.Cluster"), name, ...how, ...more };
}

/** From this address: iptables knows by it what comes from the proxy. */
export function from(address: string): object {
  return { upstream_bind_config: { source_address: { address, port_value: 0 } } };
}

export function socket(address: string, port: number): object {
  return { socket_address: { address, port_value: port } };
}

function type(name: string): string {
  return `type.googleapis.com/envoy.${name}`;
}

/** For gRPC. */
export const http2 = {
  typed_extension_protocol_options: {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
      "@type": type("extensions.upstreams.http.v3.HttpProtocolOptions"),
      explicit_http_config: { http2_protocol_options: {} },
    },
  },
};
