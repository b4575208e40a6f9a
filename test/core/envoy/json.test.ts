import { expect, test } from "bun:test";
import fc from "fast-check";
import { directionsOf } from "../../../src/core/envoy/directions.ts";
import { dynamicListenersPath, parseListenerDump, staticListenersPath } from "../../../src/core/envoy/json.ts";

function parseDirections(text: string) {
  const listeners = parseListenerDump(text);
  return listeners === undefined ? undefined : directionsOf(listeners);
}

function tcp(address: string, port?: number): object {
  return { socket_address: { address, ...(port === undefined ? {} : { port_value: port }) } };
}

function statics(...listeners: readonly object[]): string {
  return JSON.stringify({ configs: listeners.map((listener) => ({ "@type": "StaticListener", listener })) });
}

function dynamics(...listeners: readonly object[]): string {
  const configs = listeners.map((listener) => ({ "@type": "DynamicListener", active_state: { listener } }));
  return JSON.stringify({ configs });
}

const outbound = { traffic_direction: "OUTBOUND" };

test.each<[string, string, readonly string[] | undefined]>([
  ["a static listener", statics({ address: tcp("10.0.0.1", 5432), ...outbound }), ["10.0.0.1_5432"]],
  ["a dynamic listener", dynamics({ address: tcp("0.0.0.0", 15001), ...outbound }), ["0.0.0.0_15001"]],
  ["an IPv6 address", dynamics({ address: tcp("::1", 80), ...outbound }), ["[__1]_80"]],
  ["any IPv6 address", dynamics({ address: tcp("::", 15001), ...outbound }), ["[__]_15001"]],
  ["a unix socket", statics({ address: { pipe: { path: "/run/a:b.sock" } }, ...outbound }), ["/run/a_b.sock"]],
  ["a stat_prefix", statics({ address: tcp("0.0.0.0", 80), stat_prefix: "calls", ...outbound }), ["calls"]],
  ["an empty stat_prefix", statics({ address: tcp("0.0.0.0", 80), stat_prefix: "", ...outbound }), ["0.0.0.0_80"]],
  ["port 0, which Envoy leaves out", statics({ address: tcp("127.0.0.1"), ...outbound }), ["127.0.0.1_0"]],
  [
    "inbound and undirected ones left out",
    dynamics(
      { address: tcp("0.0.0.0", 15006), traffic_direction: "INBOUND" },
      { address: tcp("0.0.0.0", 15090) },
      { address: tcp("0.0.0.0", 15001), ...outbound },
    ),
    ["0.0.0.0_15001"],
  ],
  ["an internal listener, without an address", dynamics({ address: {}, ...outbound }, outbound), []],
  ["a dynamic listener that is still warming", JSON.stringify({ configs: [{ warming_state: {} }] }), []],
  ["no listeners", "{}", []],
  ["no configs", '{"configs": []}', []],
  ["no JSON", "Forbidden", undefined],
  ["nothing", "", undefined],
  ["other JSON", "[1]", undefined],
  ["configs of another kind", '{"configs": "all"}', undefined],
  ["half of it", '{"configs": [{"listener": {', undefined],
])("the listeners of one direction in a dump: %s", (_, text, expected) => {
  expect(parseDirections(text)?.outbound).toEqual(expected as string[]);
  const inbound = parseDirections(text.replaceAll('"INBOUND"', '"no"').replaceAll("OUTBOUND", "INBOUND"))?.inbound;
  expect(inbound).toEqual(expected as string[]);
});

test("a dump is read, or it is none: never an error", () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      const directions = parseDirections(text);
      expect(directions === undefined || Array.isArray(directions.outbound)).toBe(true);
    }),
  );
});

test.each<[string, readonly object[], readonly number[]]>([
  ["those of inbound listeners alone", [inbound(8080), neither(15090), to(15001)], [8080]],
  ["where none is inbound, those that say no direction", [neither(8080), neither(8443), to(15001)], [8080, 8443]],
  ["none of a unix socket", [{ address: { pipe: { path: "/a.sock" } }, traffic_direction: "INBOUND" }], []],
])("the ports where something comes in: %s", (_, listeners, ports) => {
  expect(parseDirections(dynamics(...listeners))?.ports).toEqual(ports as number[]);
});

function inbound(port: number): object {
  return { address: tcp("0.0.0.0", port), traffic_direction: "INBOUND" };
}

function neither(port: number): object {
  return { address: tcp("0.0.0.0", port) };
}

function to(port: number): object {
  return { address: tcp("0.0.0.0", port), ...outbound };
}

test("of static listeners no more is asked for than what is read", () => {
  const mask = new URL(staticListenersPath, "http://admin").searchParams.get("mask")?.split(",");
  expect(mask).toEqual(["listener.name", "listener.address", "listener.stat_prefix", "listener.traffic_direction"]);
});

test("of dynamic listeners those of a group are asked for", () => {
  const parameters = new URL(dynamicListenersPath({ pattern: "a\\|[bc].*", names: [] }), "http://admin").searchParams;
  expect(Object.fromEntries(parameters)).toEqual({
    resource: "dynamic_listeners",
    mask: "name,active_state.listener",
    name_regex: "a\\|[bc].*",
  });
});
