/** The sockets of the pod, as `ebb status` shows them. */
export interface SocketsStatus {
  readonly listening: readonly ListeningSocket[];
  /** The number of TCP connections that this pod has opened, by state. */
  readonly outgoing: Counts;
}

/** An address that listens, with the connections that it has accepted. */
export interface ListeningSocket {
  readonly protocol: "tcp" | "tcp6" | "unix";
  /** An IP address, the path of a unix socket, or its name in the abstract namespace after `@`. */
  readonly address: string;
  /** null for a unix socket. */
  readonly port: number | null;
  /** The process that has it open; null if ebb may not see that. */
  readonly pid: number | null;
  /** That process's name, or null. */
  readonly process: string | null;
  /** The number of connections that wait for accept(2); null for a unix socket. */
  readonly backlog: number | null;
  /** The number of its connections, by state (`established`, `close_wait`, ...). */
  readonly connections: Counts;
}

/** Numbers of connections by state. A state without connections is absent. */
export type Counts = Readonly<Record<string, number>>;
