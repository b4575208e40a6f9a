import { type Address, loopbacks } from "../core/address.ts";
import { ERRNO, libc, moreOfLibc, ptr } from "./libc.ts";

const AF_INET = 2;
const AF_INET6 = 10;
const SOCK_STREAM = 1;
const SOCK_NONBLOCK = 0x800;
const SOCK_CLOEXEC = 0x80000;
const SOL_SOCKET = 1;
const SO_ERROR = 4;

/**
 * Whether nobody listens there, for sure: connect(2) without waiting, which loopback answers at once, at a tenth of what
 * Bun.connect costs. Undefined where only a real attempt can tell (host names, unix sockets).
 */
export function refusalCheck(address: Address): (() => boolean) | undefined {
  if (address.kind === "unix") return undefined;
  const checks = loopbacks(address.host).map((host) => checkOf(host, address.port));
  if (checks.includes(undefined)) return undefined;
  return () => checks.every((isRefused) => isRefused?.());
}

function checkOf(host: string, port: number): (() => boolean) | undefined {
  const address = socketAddress(host, port);
  if (address === undefined) return undefined;
  const memory = new Int32Array([0, 4]); // the error, and its size
  const [where, error, size] = [ptr(address), ptr(memory, 0), ptr(memory, 4)];
  return () => {
    const socket = moreOfLibc().socket(address[0] as number, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0) return false; // a real attempt says why
    memory[0] = 0;
    const isPending = moreOfLibc().connect(socket, where, address.length) !== 0;
    if (isPending) moreOfLibc().getsockopt(socket, SOL_SOCKET, SO_ERROR, error, size); // loopback has refused by now
    libc.close(socket);
    return memory[0] === ERRNO.ECONNREFUSED;
  };
}

/** sockaddr_in or sockaddr_in6 (ip(7), ipv6(7)); undefined for what is neither an IPv4 address nor ::1. */
function socketAddress(host: string, port: number): Uint8Array | undefined {
  const bigEndian = [port >> 8, port & 255];
  if (host === "::1") return Uint8Array.from([AF_INET6, 0, ...bigEndian, ...zeros(4), ...zeros(15), 1, ...zeros(4)]);
  if (!/^\d+(\.\d+){3}$/.test(host)) return undefined;
  return Uint8Array.from([AF_INET, 0, ...bigEndian, ...host.split(".").map(Number), ...zeros(8)]);
}

function zeros(count: number): readonly number[] {
  return new Array<number>(count).fill(0);
}
