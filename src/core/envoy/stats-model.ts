/** What an Envoy counts, of what /stats is asked for here. */
export interface Stats {
  /** How many statistics there were, whatever they count. */
  readonly size: number;
  readonly published: Published;
  /** By the name in statistics: its address with `_` for `:`, or its stat_prefix (Envoy, listener_impl.cc). */
  readonly listeners: ReadonlyMap<string, ListenerStats>;
  /** HTTP connection managers by stat_prefix. */
  readonly managers: ReadonlyMap<string, ManagerStats>;
  /** HTTP connections that draining has closed since Envoy started, by `connection: close` or GOAWAY. */
  readonly drained: number;
}

/** Of the statistics that are counted here; our own request and connection are among them, where they are published. */
export interface Published {
  /** Of HTTP connection managers. */
  readonly requests: boolean;
  /** Of listeners. */
  readonly connections: boolean;
}

export interface ListenerStats {
  /** Connections; undefined: it does not say. */
  readonly active: number | undefined;
  /** Those that have answered on it. */
  readonly managers: readonly ManagerStats[];
}

export interface ManagerStats {
  readonly name: string;
  /** Undefined: it does not say. */
  readonly requests: number | undefined;
  readonly connections: number | undefined;
}

/** The ports of such endpoints, where no request has told whose they are: Istio's 15021 and 15090, Envoy Gateway's 19001 and 19003. */
export const ownPorts = [15021, 15090, 19001, 19003];

/** Whether a listener's port is that of an endpoint of the proxy itself. */
export function isOwnPort(port: number | undefined): boolean {
  return port !== undefined && ownPorts.includes(port);
}

/** Returns the port in a listener's name in statistics; undefined where the name is a stat_prefix, or a Unix socket's. */
export function portOf(listener: string): number | undefined {
  const port = /_(\d+)$/.exec(listener)?.[1];
  return port === undefined ? undefined : Number(port);
}
