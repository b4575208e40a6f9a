import { describe, expect, test } from "bun:test";
import { childPath } from "../../harness/compiled.ts";
import { quitLineOf } from "../../harness/ebb.ts";
import { canHaveNetwork, ebbBeside, type NetworkOptions } from "./own-network.ts";

const [v4, v6] = ["127.0.0.1", "::1"];

const all: readonly [title: string, host: string, NetworkOptions, tool?: string][] = [
  ["IPv6 is off", v4, { change: "echo 1 > /proc/sys/net/ipv6/conf/all/disable_ipv6" }],
  ["the kernel has no IPv6", v4, { via: [childPath(), "ipv4-only"] }],
  ["IPv6 is dropped", v4, { change: "ip6tables -A INPUT -i lo -j DROP" }, "ip6tables"],
  ["IPv4 is off", v6, { change: "ip address delete 127.0.0.1/8 dev lo" }, "ip"],
  ["IPv4 is dropped", v6, { change: "iptables -A INPUT -i lo -j DROP" }, "iptables"],
];
const cases = all.filter(([, , , tool]) => tool === undefined || Bun.which(tool) !== null);

describe.skipIf(!canHaveNetwork)("a sidecar at localhost", () => {
  test.each(cases)("is quit, and its end is seen, where %s", async (_, host, options) => {
    const sidecars = [{ port: 9901, host }];
    const quit = await ebbBeside(sidecars, ["quit", "--sidecar", "envoy"], options);
    expect(quitLineOf(quit).outcome).toBe("exited");
    expect(quit.code).toBe(0);
    const run = await ebbBeside(sidecars, ["run", "--sidecar", "envoy", "--", childPath(), "exit", "5"], options);
    expect(quitLineOf(run).outcome).toBe("exited");
    expect(run.code).toBe(5);
  });

  test("is watched where it took the quit, whatever else has its port at the other address", async () => {
    const other = { port: 9901, host: v6, app: 404 };
    const ended = await ebbBeside([{ port: 9901, host: v4 }, other], ["quit", "--sidecar", "envoy"]);
    expect(quitLineOf(ended).outcome).toBe("exited");
  });

  test.each(cases)("that is not there refuses connections, where %s", async (_title, _host, options) => {
    const wait = ["wait", "--sidecar", "envoy", "--wait-timeout", "1s"];
    const ended = await ebbBeside([], wait, options);
    expect(ended.code).toBe(69);
    const waits = ended.log.filter(({ msg }) => msg === "ebb: waiting until ready");
    expect(new Set(waits.map(({ reason }) => reason))).toEqual(new Set(["connection refused"]));
  });
});
