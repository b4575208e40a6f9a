import { describe, expect, test } from "bun:test";
import { internalAddressOf, isInternal } from "../../../../src/cluster/image/addresses.ts";
import { LookupError } from "../../../../src/cluster/image/core/failure.ts";
import { checkedTarget } from "../../../../src/cluster/image/send-request.ts";
import type { Session } from "../../../../src/cluster/image/session.ts";

describe("an internal address", () => {
  test.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.0.0.1",
    "127.8.8.8",
    "169.254.169.254", // the metadata of clouds
    "172.16.0.1",
    "172.31.255.255",
    "192.168.1.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "fc00::1",
    "fd12:3456::1",
    "fe80::1",
    "ff02::1",
    "::ffff:10.0.0.1",
    "::ffff:7f00:1",
    "fec0::1",
    "::10.0.0.1",
    "100.100.100.200", // the metadata of Alibaba Cloud
    "192.0.0.192", // that of Oracle Cloud
    "fd00:ec2::254", // that of Amazon EC2
    "168.63.129.16", // Azure's WireServer
    "64:ff9b::10.0.0.1",
    "64:ff9b::a9fe:a9fe", // 169.254.169.254
    "64:ff9b::a83f:8110",
    "64:ff9b:1::1",
    "2002:a00:1::1", // 10.0.0.1
    "2002:c0a8:101:8::", // 192.168.1.1
  ])("%s is one", (address) => {
    expect(isInternal(address)).toBe(true);
  });

  test.each([
    "8.8.8.8",
    "11.0.0.1",
    "100.128.0.1",
    "172.32.0.1",
    "193.168.1.1",
    "2001:4860:4860::8888",
    "2606:4700::1",
    "::ffff:8.8.8.8",
    "168.63.129.17",
    "64:ff9b::8.8.8.8", // as DNS64 has a registry without IPv6
    "64:ff9b::6480:1", // 100.128.0.1
    "64:ff9b:2::a00:1",
    "2002:808:808::1",
    "2002:ac20::1", // 172.32.0.0
  ])("%s is none", (address) => {
    expect(isInternal(address)).toBe(false);
  });

  test.each<[string, boolean, string | undefined]>([
    ["localhost", false, "127.0.0.1"],
    ["localhost", true, undefined], // the proxy looks it up
    ["127.0.0.1", true, "127.0.0.1"],
    ["[::1]", false, "::1"],
    ["8.8.8.8", false, undefined],
    ["nowhere.invalid", false, undefined],
  ])("is found of %s (by a proxy: %p)", async (host, isProxied, address) => {
    expect(await internalAddressOf(host, isProxied, AbortSignal.timeout(10_000))).toBe(address);
  });
});

const PUBLIC = "https://8.8.8.8";
const PRIVATE = "https://10.0.0.1:5000";

function session(origin: string, registries: "all" | readonly string[] = "all"): Session {
  const source = { origin, host: "registry", repository: "app", mirrors: undefined, isFallback: false };
  const client = {
    policy: { registries, registryMirror: [] },
    ca: undefined,
    env: {},
    mostBytes: 1,
    arriving: new Map(),
    mostArriving: 1,
    isAtDesk: false,
  };
  return { source, client, auths: [], signal: AbortSignal.timeout(1000), limitMs: 1000, isAnswered: false, sent: [] };
}

test("a host that nobody has looked up in time has none", async () => {
  expect(await internalAddressOf("localhost", false, AbortSignal.abort())).toBeUndefined();
});

describe("a registry may send its client", () => {
  test.each<[string, string, string, readonly string[]]>([
    ["to itself", PRIVATE, "/v2/x", []],
    ["to itself, without TLS if it has none", "http://localhost:5000", "http://localhost:5000/token", []],
    ["to a public address", PUBLIC, "https://1.1.1.1/x", []],
    ["to a private address, if it has one itself", PRIVATE, "https://192.168.0.1/token", []],
    ["to a host that is named", PUBLIC, "https://10.0.0.2:8443/x", ["10.0.0.2:8443"]],
  ])("%s", async (_, origin, location, registries) => {
    expect((await checkedTarget(session(origin, registries), location)).href).toBe(new URL(location, origin).href);
  });

  test.each<[string, string, string]>([
    ["a private address", "https://10.0.0.2/x", "10.0.0.2 is internal"],
    ["an address of this machine", "https://127.0.0.1:6443/api", "127.0.0.1 is internal"],
    ["a name of this machine", "https://localhost:6443/api", "127.0.0.1 is internal"],
    ["the metadata of a cloud", "https://169.254.169.254/latest", "169.254.169.254 is internal"],
    ["an address written as a number", "https://2130706433/", "127.0.0.1 is internal"],
    ["an address in IPv6", "https://[::ffff:7f00:1]/", "is internal"],
    ["an address by NAT64", "https://[64:ff9b::a00:1]/", "is internal"],
    ["a public address without TLS", "http://1.1.1.1/x", "no TLS"],
    ["itself on another port without TLS", "http://8.8.8.8:80/x", "no TLS"],
  ])("not from the internet to %s", async (_, location, words) => {
    const error = await checkedTarget(session(PUBLIC), location).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(LookupError);
    expect((error as LookupError).failure).toBe("invalid");
    expect((error as LookupError).message).toContain(words);
  });

  test("not inside because all registries may be asked: the host has to be named", async () => {
    const { message } = await checkedTarget(session(PUBLIC, "all"), "https://10.0.0.2/").catch((reason) => reason);
    expect(message).toContain("name 10.0.0.2 in --registries");
  });
});
