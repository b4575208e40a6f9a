/** The statistics of an Envoy, as far as `statsPath` asks for them. */
export interface Stats {
  /** How many statistics were read, whatever they count. */
  readonly size: number;
  readonly published: Published;
  /**
   * Listeners by their names in statistics: the address with `_` for `:`, or the stat_prefix (Envoy, listener_impl.cc).
   */
  readonly listeners: ReadonlyMap<string, ListenerStats>;
  /** HTTP connection managers by stat_prefix. */
  readonly managers: ReadonlyMap<string, ManagerStats>;
  /** How many HTTP connections draining has closed since Envoy started, by `connection: close` or GOAWAY. */
  readonly drained: number;
}

/**
 * Which numbers Envoy publishes. They count ebb's own request and connection too: false means that they are thinned
 * out.
 */
export interface Published {
  /** Requests in flight, of HTTP connection managers. */
  readonly requests: boolean;
  /** Open connections, of listeners. */
  readonly connections: boolean;
}

/** The statistics of one listener. */
export interface ListenerStats {
  /** How many connections are open. Undefined if that is not published. */
  readonly active: number | undefined;
  /** The HTTP connection managers that have answered a request on this listener. */
  readonly managers: readonly ManagerStats[];
}

/** The statistics of one HTTP connection manager. */
export interface ManagerStats {
  /** Its stat_prefix. */
  readonly name: string;
  /** How many requests are in flight, and how many connections open. Undefined if that is not published. */
  readonly requests: number | undefined;
  readonly connections: number | undefined;
}

/**
 * The ports of the proxy's own statistics and readiness endpoints: Istio's 15021 and 15090, Envoy Gateway's 19001 and
 * 19003. They tell what a listener is until a request shows which manager serves it.
 */
export const ownPorts = [15021, 15090, 19001, 19003];

/** Reports whether a listener's port is one of `ownPorts`, an endpoint of the proxy itself. */
export function isOwnPort(port: number | undefined): boolean {
  return port !== undefined && ownPorts.includes(port);
}

/**
 * Returns the port in a listener's name in statistics: 80 for `0.0.0.0_80`. Returns undefined if the name does not end
 * so.
 */
export function portOf(listener: string): number | undefined {
  const port = /_(\d+)$/.exec(listener)?.[1];
  return port === undefined ? undefined : Number(port);
}
