import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseListenerDump, staticListenersPath } from "../../../../../src/pod/envoy/core/json.ts";

/** The names in statistics of the listeners of one direction in a dump. */
function namesOf(text: string, wanted: "INBOUND" | "OUTBOUND"): readonly string[] | undefined {
  const listeners = parseListenerDump(text)?.filter(({ direction }) => direction === wanted);
  return listeners?.flatMap(({ statName }) => statName ?? []);
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
  expect(namesOf(text, "OUTBOUND")).toEqual(expected as string[]);
  const turned = text.replaceAll('"INBOUND"', '"no"').replaceAll("OUTBOUND", "INBOUND");
  expect(namesOf(turned, "INBOUND")).toEqual(expected as string[]);
});

test("a dump is read, or it is none: never an error", () => {
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => {
      const listeners = parseListenerDump(text);
      expect(listeners === undefined || Array.isArray(listeners)).toBe(true);
    }),
  );
});

test("the port of a listener is known unless it is on a unix socket", () => {
  const text = dynamics({ address: tcp("::", 8080) }, { address: { pipe: { path: "/a.sock" } } });
  expect(parseListenerDump(text)?.map(({ port }) => port)).toEqual([8080, undefined]);
});

test.each([
  ["127.0.0.1", true],
  ["127.0.1.7", true],
  ["::1", true],
  ["::ffff:7f00:1", true],
  ["0.0.0.0", false],
  ["::", false],
  ["10.0.0.7", false],
])("a listener at %s is local: %p", (host, isLocal) => {
  expect(parseListenerDump(statics({ address: tcp(host, 80) }))).toMatchObject([{ isLocal }]);
});

test("a listener on a unix socket is local, and one inside Envoy is not", () => {
  const text = dynamics({ address: { pipe: { path: "/a.sock" } } }, { address: {} }, {});
  expect(parseListenerDump(text)?.map(({ isLocal }) => isLocal)).toEqual([true, false, false]);
});

test("of static listeners no more is asked for than what is read", () => {
  const mask = new URL(staticListenersPath, "http://admin").searchParams.get("mask")?.split(",");
  expect(mask).toEqual(["listener.name", "listener.address", "listener.stat_prefix", "listener.traffic_direction"]);
});
