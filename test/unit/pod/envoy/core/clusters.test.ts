import { expect, test } from "bun:test";
import {
  clustersPath,
  countInbound,
  createInboundCount,
  LONGEST_LINE,
} from "../../../../../src/pod/envoy/core/clusters.ts";
import type { Inbound } from "../../../../../src/shared/sidecars/core/inbound.ts";
import { inboundOf } from "../../../../../src/shared/sidecars/core/registry.ts";

const istio = inboundOf("istio") as Inbound;

/** What Envoy 1.40 says of a cluster without hosts. */
function cluster(name: string): string {
  return `${name}::observability_name::${name}\n${name}::default_priority::max_requests::1024\n${name}::added_via_api::true\n`;
}

function host(name: string, active: number, address = "10.0.0.1:8080"): string {
  return `${cluster(name)}${name}::${address}::cx_active::9\n${name}::${address}::rq_active::${active}\n${name}::${address}::rq_error::5\n`;
}

test.each<[string, string, number | undefined]>([
  ["is counted", host("inbound|8080||", 2), 2],
  ["is the sum of their hosts", host("inbound|8080||", 2) + host("inbound|9090||", 3), 5],
  ["is nothing before the first traffic, without hosts", cluster("inbound|8080||"), 0],
  ["is nothing where one has no hosts", cluster("inbound|8080||") + host("inbound|9090||", 3), 3],
  ["has what goes to ports that no Service names", host("InboundPassthroughCluster", 1), 1],
  ["has what goes to IPv6", host("inbound|8080||", 2, "[fd00::7]:8080"), 2],
  ["has no outbound", host("outbound|80||reviews", 7) + host("inbound|8080||", 0), 0],
  ["has nothing of a cluster that is only named alike", host("InboundPassthroughCluster2", 4), undefined],
  ["is the same in lines that end in CRLF", host("inbound|8080||", 2).replaceAll("\n", "\r\n"), 2],
  ["is not known where there are no such clusters", host("app", 4), undefined],
  ["is not known from something else", "Forbidden", undefined],
  ["is not known from nothing", "", undefined],
])("the count of requests to a mesh's inbound clusters %s", (_, text, active) => {
  expect(countInbound(text, istio)).toBe(active as number);
});

test.each([
  ["istio", "inbound|8080||", true],
  ["istio", "InboundPassthroughCluster", true],
  ["istio", "outbound|80||inbound.shop.svc.cluster.local", false],
  ["istio", "PassthroughCluster", false],
  ["istio", "agent", false],
  ["kuma", "localhost:8080", true],
  ["kuma", "inbound:passthrough:ipv6", true],
  ["kuma", "self_inbound_dp_http", true],
  ["kuma", "self_transparentproxy_passthrough_inbound_ipv4", true],
  ["kuma", "self_transparentproxy_passthrough_outbound_ipv4", false],
  ["kuma", "outbound:passthrough:ipv4", false],
  ["kuma", "kri_msvc_default_zone_ns_backend_80", false],
  ["consul", "local_app", true],
  ["consul", "exposed_cluster_9090", true],
  ["consul", "local_agent", false],
  ["consul", "api.default.dc1.internal.0b3c.consul", false],
] as const)("beside %s the cluster %s leads to the app: %s", (sidecar, name, isInbound) => {
  const inbound = inboundOf(sidecar) as Inbound;
  const filter = new URL(clustersPath(inbound), "http://admin").searchParams.get("filter") as string;
  expect(new RegExp(filter).test(name)).toBe(isInbound);
  expect(countInbound(host(name, 3), inbound)).toEqual((isInbound ? 3 : undefined) as number);
});

test.each([1, 7, 1000])(
  "text that comes in pieces of %d is counted as a whole, but for a line that is too long",
  (size) => {
    const text = `${host("inbound|8080||", 2)}${"x".repeat(LONGEST_LINE + 1000)}\n${host("inbound|9090||", 3)}`;
    for (const whole of [text, text.trimEnd()]) {
      const count = createInboundCount(inboundOf("istio") as Inbound);
      for (let at = 0; at < whole.length; at += size) count.take(whole.slice(at, at + size));
      expect(count.end()).toBe(5);
    }
  },
);
