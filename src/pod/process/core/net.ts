import { type Address, isLoopback } from "../../../shared/core/address.ts";

/** The texts of /proc/net/tcp, tcp6 and unix; each is undefined if the file cannot be read. */
export interface SocketTables {
  readonly tcp: string | undefined;
  readonly tcp6: string | undefined;
  readonly unix: string | undefined;
}

/** A process that has a socket open. */
export interface Owner {
  readonly pid: number;
  readonly name: string;
}

/** The owners of sockets, by the socket's inode. */
export type Owners = ReadonlyMap<number, Owner>;

/**
 * Summarises the tables for `ebb status`: listening sockets, TCP by port and then unix, each with its connections
 * counted by state, and the connections that this pod opened. Returns null if none of the tables could be read.
 */
export function summarizeSockets(tables: SocketTables, owners: Owners): SocketsStatus | null {
  const { tcp, tcp6, unix } = tables;
  if (tcp === undefined && tcp6 === undefined && unix === undefined) return null;
  const sockets = [...parseTcp(tcp ?? "", "tcp"), ...parseTcp(tcp6 ?? "", "tcp6")];
  const listeners = new Map<string, Listener>();
  for (const socket of sockets) if (socket.state === "listen") addListener(listeners, socket, owners);
  const outgoing = new Map<string, number>();
  for (const socket of sockets) {
    if (socket.state === "listen") continue;
    const listener = listenerOf(socket, listeners);
    count(listener?.connections ?? outgoing, socket.state);
  }
  return {
    listening: [...listeners.values()]
      .map(listeningOf)
      .toSorted(byPort)
      .concat(unixListening(unix ?? "", owners)),
    outgoing: Object.fromEntries(outgoing),
  };
}

/**
 * Parses the established TCP connections and the listening TCP sockets. Tables that could not be read count as empty.
 */
export function parseTcpSockets(tables: Pick<SocketTables, "tcp" | "tcp6">): TcpSockets {
  const all = [...parseTcp(tables.tcp ?? "", "tcp"), ...parseTcp(tables.tcp6 ?? "", "tcp6")];
  const inState = (wanted: string) => all.filter(({ state }) => state === wanted);
  return { sockets: inState("established"), listening: inState("listen") };
}

/** Reports whether an address is this network namespace's own: loopback, or the local end of one of its sockets. */
export function isOwnAddress(address: Address, tables: Pick<SocketTables, "tcp" | "tcp6">): boolean {
  if (isLoopback(address)) return true;
  const { sockets } = parseTcpSockets(tables);
  return address.kind === "tcp" && sockets.some((socket) => socket.address === address.host);
}

interface TcpSockets {
  /** The established connections, both those accepted and those opened. */
  readonly sockets: readonly TcpSocket[];
  readonly listening: readonly TcpSocket[];
}

/** One line of /proc/net/tcp or tcp6. */
interface TcpSocket {
  readonly protocol: "tcp" | "tcp6";
  /** The local address, as in RFC 5952; IPv4 for an IPv4 address on a dual-stack socket. */
  readonly address: string;
  readonly port: number;
  /** The other end. */
  readonly remote: { readonly address: string; readonly port: number };
  /** `established`, `listen`, `time_wait` ...; `unknown` for a number that is not in tcp_states.h. */
  readonly state: string;
  /** The receive queue; of a listening socket, the number of connections that wait for accept(2). */
  readonly queue: number;
  readonly inode: number;
}

/** The names of linux include/net/tcp_states.h in lower case; the index of each is its number. */
const states =
  " established syn_sent syn_recv fin_wait1 fin_wait2 time_wait close close_wait last_ack listen closing syn_recv";

/**
 * Parses /proc/net/tcp or tcp6 (kernel: Documentation/networking/proc_net_tcp.rst; gVisor pads other fields with
 * blanks: pkg/sentry/fsimpl/proc/task_net.go). Ignores lines that have another form.
 */
function parseTcp(table: string, protocol: "tcp" | "tcp6"): readonly TcpSocket[] {
  const rows = table.matchAll(
    /^ *\d+: +([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4}) +((?:[0-9A-F]{8}|[0-9A-F]{32}):[0-9A-F]{4}) +([0-9A-F]{2}) +\S+:([0-9A-F]+) +\S+ +\S+ +\d+ +\d+ +(\d+)/gm, // regexp: the kernel writes these lines, which are short
  );
  const names = states.split(" ");
  return [...rows].map(([, address = "", port = "", remote = "", state = "", queue = "", inode]) => ({
    protocol,
    ...endOf(address, port),
    remote: endOf(...(remote.split(":") as [string, string])),
    state: names[Number.parseInt(state, 16)] ?? "unknown",
    queue: Number.parseInt(queue, 16),
    inode: Number(inode),
  }));
}

function endOf(address: string, port = ""): { readonly address: string; readonly port: number } {
  return { address: address.length === 8 ? ipv4(address) : ipv6(address), port: Number.parseInt(port, 16) };
}

/** Splits a 32-bit word in hexadecimal into its bytes. The kernel prints it little-endian on x86-64 and arm64. */
function bytesOf(word: string): readonly string[] {
  return (word.match(/../g) ?? []).toReversed();
}

function ipv4(word: string): string {
  return bytesOf(word)
    .map((byte) => Number.parseInt(byte, 16))
    .join(".");
}

/** Formats an address as in RFC 5952. An IPv4 address on a dual-stack socket is formatted as IPv4. */
function ipv6(words: string): string {
  const mapped = /^0{16}FFFF0000(.{8})$/.exec(words)?.[1];
  if (mapped !== undefined) return ipv4(mapped);
  const bytes = (words.match(/.{8}/g) ?? []).flatMap(bytesOf).join("");
  return new URL(`http://[${bytes.match(/.{4}/g)?.join(":")}]`).hostname.slice(1, -1);
}

/** One address that listens. Several sockets may share it by SO_REUSEPORT, as those of Envoy's workers do. */
interface Listener {
  readonly protocol: "tcp" | "tcp6";
  readonly address: string;
  readonly port: number;
  owner: Owner | undefined;
  backlog: number;
  readonly connections: Map<string, number>;
}

function addListener(listeners: Map<string, Listener>, socket: TcpSocket, owners: Owners): void {
  const { protocol, address, port, queue } = socket;
  const key = `${address} ${port}`;
  const listener = listeners.get(key) ?? {
    protocol,
    address,
    port,
    owner: undefined,
    backlog: 0,
    connections: new Map(),
  };
  listener.owner ??= owners.get(socket.inode);
  listener.backlog += queue;
  listeners.set(key, listener);
}

/** Returns the listening address that accepted a connection, or undefined if this pod opened the connection. */
function listenerOf({ address, port }: TcpSocket, listeners: ReadonlyMap<string, Listener>): Listener | undefined {
  return listeners.get(`${address} ${port}`) ?? listeners.get(`0.0.0.0 ${port}`) ?? listeners.get(`:: ${port}`);
}

function count(counts: Map<string, number>, state: string): void {
  counts.set(state, (counts.get(state) ?? 0) + 1);
}

function listeningOf({ protocol, address, port, owner, backlog, connections }: Listener): ListeningSocket {
  const counts: Counts = Object.fromEntries(connections);
  return {
    protocol,
    address,
    port,
    pid: owner?.pid ?? null,
    process: owner?.name ?? null,
    backlog,
    connections: counts,
  };
}

function byPort(a: ListeningSocket, b: ListeningSocket): number {
  return (a.port ?? 0) - (b.port ?? 0);
}

const ACCEPTS = 0x10000; // __SO_ACCEPTCON (linux include/linux/net.h)
const CONNECTED = "03"; // SS_CONNECTED

/** Parses /proc/net/unix (proc_pid_net(5)). An accepted connection has the path of the socket that accepted it. */
function unixListening(table: string, owners: Owners): readonly ListeningSocket[] {
  const rows = [...table.matchAll(/^\S+ +\S+ +\S+ +(\S+) +\S+ +(\S+) +(\S+) (.+)$/gm)];
  const connected = new Map<string, number>();
  for (const [, , state, , path = ""] of rows) if (state === CONNECTED) count(connected, path);
  return rows.flatMap(([, flags = "", , inode, path = ""]) => {
    if ((Number.parseInt(flags, 16) & ACCEPTS) === 0) return [];
    const owner = owners.get(Number(inode));
    const established = connected.get(path) ?? 0;
    const connections: Counts = established === 0 ? {} : { established };
    const who = { pid: owner?.pid ?? null, process: owner?.name ?? null };
    return [{ protocol: "unix" as const, address: path, port: null, ...who, backlog: null, connections }];
  });
}

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
