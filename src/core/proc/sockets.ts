export interface SocketsStatus {
  readonly listening: readonly ListeningSocket[];
  /** How many connections this pod has opened itself, by state. */
  readonly outgoing: Counts;
}

export interface ListeningSocket {
  readonly protocol: "tcp" | "tcp6" | "unix";
  /** An IP address, the path of a unix socket, or its name in the abstract namespace after `@`. */
  readonly address: string;
  /** null: a unix socket. */
  readonly port: number | null;
  /** Who has it open; null: cannot be seen. */
  readonly pid: number | null;
  readonly process: string | null;
  /** Connections that wait for accept(2); null: a unix socket. */
  readonly backlog: number | null;
  /** How many connections it has, by state (`established`, `close_wait`, ...). */
  readonly connections: Counts;
}

export type Counts = Readonly<Record<string, number>>;
