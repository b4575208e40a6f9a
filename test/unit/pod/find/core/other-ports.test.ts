import { expect, test } from "bun:test";
import { otherPorts } from "../../../../../src/pod/find/core/other-ports.ts";

const ANY = "0".repeat(32);
const tableOf = (...sockets: readonly string[]) => sockets.map((one) => `0: ${one} 0:0000 0A \n`).join("");
const port = (number: number) => number.toString(16).toUpperCase().padStart(4, "0");

test.each<[string, string, boolean]>([
  ["127.0.0.1", "0100007F", true],
  ["127.0.53.53", "3535007F", true],
  ["0.0.0.0", "00000000", false],
  ["127 at the wrong end", "7F000001", false],
  ["10.0.0.127", "7F00000A", false],
  ["::1", `${"0".repeat(24)}01000000`, true],
  ["::", ANY, false],
  ["127.0.0.1, mapped", "0000000000000000FFFF00000100007F", true],
  ["10.0.0.7, mapped", "0000000000000000FFFF00000700000A", false],
])("a port on %s", (_, address, isOnLoopback) => {
  const others = otherPorts(tableOf(`${address}:${port(9999)}`), () => false, []);
  expect(others).toMatchObject({ ports: [9999], onLoopback: isOnLoopback ? [9999] : [], isSuspicious: isOnLoopback });
});

test("a port that other pods reach, too, is not on loopback alone", () => {
  for (const pair of [
    ["0100007F", ANY],
    [ANY, "0100007F"],
  ] as const) {
    const others = otherPorts(tableOf(...pair.map((one) => `${one}:${port(80)}`)), () => false, []);
    expect(others).toMatchObject({ ports: [80], onLoopback: [], isSuspicious: false });
  }
});

test("the app's ports and those that are known are left out, and so are connections", () => {
  const table = tableOf(...[80, 9901, 9999].map((each) => `0100007F:${port(each)}`));
  const isKnown = (each: number) => each === 9901;
  expect(otherPorts(table, isKnown, [])?.ports).toEqual([80, 9999]);
  expect(otherPorts(table, isKnown, [80])).toMatchObject({ ports: [9999], isSuspicious: false });
  expect(otherPorts(table, isKnown, [80, 9999])).toBeUndefined();
  expect(otherPorts("0: 0100007F:1F90 0100007F:7EED 01 \n", isKnown, [])).toBeUndefined();
});
