import { describe, expect, test } from "bun:test";
import { usableMethods } from "../../../../../src/cluster/reaper/core/policy.ts";
import { reaperOptions } from "../../../../../src/cluster/reaper/core/reaper-options.ts";
import { resolve } from "../../../../../src/shared/cli/core/values.ts";

const read = (flags: Readonly<Record<string, readonly string[]>>, env: Record<string, string> = {}) =>
  resolve(reaperOptions, { flags: new Map(Object.entries(flags)), env }).values;

test("the defaults are as the help says", () => {
  expect(read({})).toMatchObject({
    namespace: [],
    allJobs: false,
    after: 5000,
    methods: ["exec", "port-forward", "ephemeral"],
    once: false,
    dryRun: false,
    qps: 20,
  });
});

test.each<[string, string, unknown]>([
  ["methods", "ephemeral,exec", ["ephemeral", "exec"]],
  ["methods", " port-forward ", ["port-forward"]],
  ["after", "0", 0],
  ["after", "1m", 60_000],
  ["selector", "app=shop,tier in (a,b)", "app=shop,tier in (a,b)"],
])("--%s %s", (flag, given, expected) => {
  const values: Readonly<Record<string, unknown>> = read({ [flag]: [given] });
  expect(values[flag]).toEqual(expected);
});

test.each<[string, string, string]>([
  ["methods", "exec,kill", "expected of exec, port-forward, ephemeral, in the order"],
  ["methods", "exec,exec", "expected of exec"],
  ["methods", "", "expected of exec"],
  ["selector", "a b c", "expected labels as kubectl selects them"],
  ["namespace", "Shop", "expected names such as shop or shop,bank"],
  ["namespace", "shop,,Bank", "expected names such as shop or shop,bank"],
  ["qps", "many", "expected a whole number above 0"],
])("--%s %p is refused, and what is wrong is said", (flag, given, problem) => {
  expect(() => read({ [flag]: [given] })).toThrow(`--${flag}: ${problem}`);
});

test("several namespaces, by flags or by the variable", () => {
  expect(read({ namespace: ["a", "b,c"] }).namespace.flat()).toEqual(["a", "b", "c"]);
  expect(read({}, { EBB_NAMESPACE: "a, b" }).namespace.flat()).toEqual(["a", "b"]);
});

describe("ephemeral containers", () => {
  const all = ["exec", "port-forward", "ephemeral"] as const;

  test("are used where there is an image for them", () => {
    expect(usableMethods({ methods: all, image: "r/ebb:1" }, false)).toEqual([...all]);
  });

  test("are left out where there is none", () => {
    expect(usableMethods({ methods: all, image: undefined }, false)).toEqual(["exec", "port-forward"]);
  });

  test("that are asked for need one", () => {
    expect(() => usableMethods({ methods: ["ephemeral"], image: undefined }, true)).toThrow(
      "--methods ephemeral: expected --image IMAGE",
    );
    expect(usableMethods({ methods: ["exec"], image: undefined }, true)).toEqual(["exec"]);
  });
});
