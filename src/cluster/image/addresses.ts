import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/**
 * Addresses that only who is inside reaches: IANA's special-purpose registries, and servers of clouds. Of those that
 * stand for an IPv4 address, by NAT64 (RFC 6052) or 6to4 (RFC 3056), that decides.
 */
const internal = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10], // Alibaba Cloud has its metadata here: 100.100.100.200
  ["127.0.0.0", 8],
  ["168.63.129.16", 32], // Azure's WireServer
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24], // Oracle Cloud: 192.0.0.192
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const) {
  internal.addSubnet(network, prefix, "ipv4");
  internal.addSubnet(`64:ff9b::${network}`, 96 + prefix, "ipv6");
  const hex = Buffer.from(network.split(".").map(Number)).toString("hex");
  internal.addSubnet(`2002:${hex.slice(0, 4)}:${hex.slice(4)}::`, 16 + prefix, "ipv6");
}
for (const [network, prefix] of [
  ["::", 96],
  ["64:ff9b:1::", 48], // NAT64 of one's own (RFC 8215): no prefix says where the IPv4 address is
  ["fc00::", 7], // Amazon EC2: fd00:ec2::254
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
] as const)
  internal.addSubnet(network, prefix, "ipv6");

/** Reports whether an IP address is one of a private network, of this machine or link, or of no machine. */
export function isInternal(address: string): boolean {
  return internal.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}

/**
 * Resolves with an internal address of a host (`example.com`, `[::1]`); undefined if it has none, is unknown, or is not
 * looked up before the signal is aborted. With `isProxied` the name is the proxy's to look up, so only an address is told.
 */
export async function internalAddressOf(
  hostname: string,
  isProxied: boolean,
  signal: AbortSignal,
): Promise<string | undefined> {
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0) return isInternal(host) ? host : undefined;
  if (isProxied || signal.aborted) return undefined;
  const { promise: late, resolve } = Promise.withResolvers<readonly LookupAddress[]>();
  signal.addEventListener("abort", () => resolve([]), { once: true });
  const found = await Promise.race([lookup(host, { all: true }).catch(() => []), late]); // the request itself says why
  return found.map(({ address }) => address).find(isInternal);
}
