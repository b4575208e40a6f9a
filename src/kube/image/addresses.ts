import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/** Addresses that are not of the internet (IANA's special-purpose registries), which only who is inside reaches. */
const internal = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const)
  internal.addSubnet(network, prefix, "ipv4");
for (const [network, prefix] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
] as const)
  internal.addSubnet(network, prefix, "ipv6");

/** Reports whether an IP address is one of a private network, of this machine or link, or of no machine. */
export function isInternal(address: string): boolean {
  return internal.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/**
 * Resolves with an internal address of a host (`example.com`, `[::1]`); undefined if it has none or is unknown. With
 * `isProxied` the name is the proxy's to look up, so only an address is told.
 */
export async function internalAddressOf(hostname: string, isProxied: boolean): Promise<string | undefined> {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return isInternal(host) ? host : undefined;
  if (isProxied) return undefined;
  const found = await lookup(host, { all: true }).catch(() => []); // the request itself says why
  return found.map(({ address }) => address).find(isInternal);
}
