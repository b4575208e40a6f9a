import { describe, expect, test } from "bun:test";
import { type DumpedListener, inboundDrain, scopeOf } from "../../../src/core/envoy/inbound.ts";

function listener(statName: string, port: number | undefined, direction?: DumpedListener["direction"]): DumpedListener {
  return { name: statName, statName, port, direction };
}

describe("a drain covers", () => {
  const all = "/drain_listeners?graceful&skip_exit";
  const comingIn = listener("in", 8080, "INBOUND");
  const going = listener("out", 15001, "OUTBOUND");
  const neither = listener("neither", 9090);
  const own = listener("own", 15021);
  const socket = listener("socket", undefined, "INBOUND");

  test.each<[string, string, readonly DumpedListener[], string, readonly string[], readonly number[]]>([
    ["all where no listener says its direction", all, [neither], all, [], [9090]],
    ["all where none is inbound, outbound too", all, [going, neither], all, [], [9090]],
    ["inbound alone where one is", all, [comingIn, going, neither], inboundDrain, ["out"], [8080]],
    ["inbound alone beside an app", inboundDrain, [going], inboundDrain, ["out"], []],
    ["inbound alone where it is a unix socket", all, [socket, neither], inboundDrain, [], []],
    ["no endpoint of its own", all, [neither, own], all, [], [9090]],
  ])("%s", (_, drainPath, listeners, path, leftOut, ports) => {
    expect(scopeOf(drainPath, listeners)).toEqual({ path, leftOut: new Set(leftOut), ports });
  });

  test("the ports that are known of its sidecar too, each once", () => {
    const inbound = { clusters: "in", ports: [8080, 15006] };
    expect(scopeOf(inboundDrain, [comingIn], inbound).ports).toEqual([8080, 15006]);
  });
});
