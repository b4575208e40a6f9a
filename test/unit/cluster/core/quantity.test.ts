import { expect, test } from "bun:test";
import { parseQuantity } from "../../../../src/cluster/core/quantity.ts";

test.each<[unknown, number | undefined]>([
  ["0", 0],
  ["1", 1],
  [2, 2],
  ["100m", 0.1],
  ["250u", 0.00025],
  [".5", 0.5],
  ["1.5Gi", 1610612736],
  ["64Mi", 67108864],
  ["2k", 2000],
  ["1E", 1e18],
  ["1Ei", 2 ** 60],
  ["1e3", 1000],
  ["1E3", 1000],
  ["5e-1", 0.5],
  ["+1", 1],
  ["", undefined],
  ["-1", undefined],
  ["1 Gi", undefined],
  ["1Kb", undefined],
  ["Gi", undefined],
  ["1e", undefined],
  [null, undefined],
  [{}, undefined],
])("the quantity %j is %p", (text, value) => {
  expect(parseQuantity(text)).toBe(value as number);
});
