import { expect, test } from "bun:test";
import { expandShortFlags } from "../../../../../src/shared/cli/core/short-flags.ts";

test.each<[readonly string[], readonly string[]]>([
  [
    ["-f", "a"],
    ["--filename", "a"],
  ],
  [["-fa"], ["--filename=a"]],
  [["-f=a=b"], ["--filename=a=b"]],
  [
    ["-f", "-"],
    ["--filename", "-"],
  ],
  [
    ["-q", "-x", "--f", "-"],
    ["--quiet", "-x", "--f", "-"],
  ],
  [
    ["-f", "a", "--", "-f"],
    ["--filename", "a", "--", "-f"],
  ],
])("%j is %j", (args, whole) => {
  expect(expandShortFlags(args, { f: "filename", q: "quiet" })).toEqual(whole);
});
