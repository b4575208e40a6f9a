import { describe, expect, test } from "bun:test";
import { type DumpedListener, type KnownListeners, scopeOf, sideOf } from "../../../../../src/pod/envoy/core/scope.ts";
import { inboundDrain } from "../../../../../src/shared/sidecars/core/inbound.ts";

function listener(
  statName: string,
  port: number | undefined,
  direction?: DumpedListener["direction"],
  isLocal = false,
): DumpedListener {
  return { name: statName, statName, port, direction, isLocal };
}

test.each<[DumpedListener["direction"], boolean, ReturnType<typeof sideOf>]>([
  ["INBOUND", false, "inbound"],
  ["INBOUND", true, "inbound"],
  ["OUTBOUND", false, "outbound"],
  ["OUTBOUND", true, "outbound"],
  [undefined, true, "outbound"],
  [undefined, false, null],
])("a listener that says %p, local: %p, is %p", (direction, isLocal, side) => {
  expect(sideOf(listener("it", 80, direction, isLocal))).toBe(side);
});

describe("a drain covers", () => {
  const all = "/drain_listeners?graceful&skip_exit";
  const comingIn = listener("in", 8080, "INBOUND");
  const going = listener("out", 15001, "OUTBOUND");
  const neither = listener("neither", 9090);
  const own = listener("own", 15021);
  const socket = listener("socket", undefined, "INBOUND", true);
  const local = listener("local", 5432, undefined, true);
  const localIn = listener("local-in", 8081, "INBOUND", true);

  test.each<[string, string, readonly DumpedListener[], string, readonly string[], readonly number[]]>([
    ["all where no listener says its direction", all, [neither], all, [], [9090]],
    ["all where none is inbound, and waits for no outbound one", all, [going, neither], all, ["out"], [9090]],
    ["outbound ones where there are no others, as in an Istio gateway", all, [going, own], all, [], []],
    ["no local one", all, [neither, local], all, ["local"], [9090]],
    ["none where all are local", all, [local], all, ["local"], []],
    ["no local one, but an outbound one where there are no others", all, [going, local], all, ["local"], []],
    ["a local one that is inbound", all, [localIn, local, neither], inboundDrain, ["local"], [8081]],
    ["inbound alone where one is", all, [comingIn, going, neither], inboundDrain, ["out"], [8080]],
    ["inbound alone beside an app", inboundDrain, [going], inboundDrain, ["out"], []],
    ["inbound alone where it is a unix socket", all, [socket, neither], inboundDrain, [], []],
    ["no endpoint of its own", all, [neither, own], all, [], [9090]],
  ])("%s", (_, drainPath, listeners, path, leftOut, ports) => {
    const scope = scopeOf(drainPath, { dumped: listeners, bound: [] });
    expect(scope).toMatchObject({ path, leftOut: new Set(leftOut), ports });
  });

  test("the ports that are known of its sidecar too, each once", () => {
    const inbound = { clusters: "in", ports: [8080, 15006] };
    expect(scopeOf(inboundDrain, { dumped: [comingIn], bound: [] }, inbound).ports).toEqual([8080, 15006]);
  });

  const bound = (name: string, port: number | undefined) => ({ name, address: "", port });
  const free = listener("in", undefined, "INBOUND");

  test.each<[string, KnownListeners, readonly number[], readonly number[]]>([
    ["the port that a listener has taken", { dumped: [free], bound: [bound("in", 40000)] }, [40000], []],
    ["what is bound where the configuration is not known", { dumped: [], bound: [bound("in", 8080)] }, [], [8080]],
    ["what is not outbound", { dumped: [going], bound: [bound("out", 15001), bound("x", 7)] }, [], [7]],
    ["what has no direction beside inbound ones", { dumped: [comingIn, neither], bound: [] }, [8080], [9090]],
    [
      "nothing of the proxy's own, and no unix socket",
      { dumped: [], bound: [bound("own", 15021), bound("s", undefined)] },
      [],
      [],
    ],
  ])("as ports, if need be, %s", (_, known, ports, otherPorts) => {
    expect(scopeOf(all, known)).toMatchObject({ ports, otherPorts });
  });
});
