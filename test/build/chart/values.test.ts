import { describe, expect, test } from "bun:test";
import Ajv from "ajv";
import fc from "fast-check";
import { parse } from "yaml";
import { chartFiles } from "../../../build/chart/chart.ts";
import { chartValues } from "../../../build/chart/chart-values.ts";
import { others, valueOfOption } from "../../../build/chart/values.ts";
import { installationOptions } from "../../../src/core/cli/cluster/installation-options.ts";
import type { Option } from "../../../src/core/cli/option.ts";

const files = chartFiles("registry.example.com/ebb");
const isValid = new Ajv({ strict: false }).compile(JSON.parse(files.get("values.schema.json") ?? ""));
const initial = parse(files.get("values.yaml") ?? "");

test("every option of ebb manifests is a value of the chart, or there is a reason why not", () => {
  const paths = chartValues("").map(({ path }) => path);
  expect(new Set(paths).size).toBe(paths.length);
  const missing = Object.keys(installationOptions).filter((key) => !paths.includes(valueOfOption(key)?.path ?? "none"));
  expect(missing.sort()).toEqual(Object.keys(others).sort());
});

test("values.yaml has every value, as the schema has it", () => {
  for (const { path, initial: value } of chartValues("registry.example.com/ebb")) {
    expect(path.split(".").reduce((at, key) => at[key], initial)).toEqual(value as never);
  }
  expect({ isValid: isValid(initial), errors: isValid.errors }).toEqual({ isValid: true, errors: null });
});

test.each<[string, object]>([
  ["an unknown value", { webhok: {} }],
  ["an unknown value of a component", { webhook: { al: true } }],
  ["a text for a number", { replicas: "2" }],
  ["a number that is too large", { webhook: { timeoutSeconds: 31 } }],
  ["a duration without a unit", { reaper: { after: "5" } }],
  ["an unknown word", { webhook: { failurePolicy: "ignore" } }],
  ["a requirement without values", { selector: [{ key: "a", operator: "In" }] }],
  ["values that mean nothing", { selector: [{ key: "a", operator: "Exists", values: ["b"] }] }],
  ["a Secret as Kubernetes has it", { imagePullSecrets: [{ name: "a" }] }],
  ["a method twice", { reaper: { methods: ["exec", "exec"] } }],
])("%s is refused", (_, values) => {
  expect(isValid(values)).toBe(false);
});

test("the chart may be a part of another one, which has global values", () => {
  expect(isValid({ ...initial, global: { any: "thing" } })).toBe(true);
});

describe("what the schema takes, ebb takes:", () => {
  const patterns = Object.entries(installationOptions).flatMap(([key, option]) => {
    const { schema } = valueOfOption(key) ?? {};
    return typeof schema?.pattern === "string" ? [[key, schema.pattern, option as Option<unknown>] as const] : [];
  });

  test.each(patterns)("%s", (_, pattern, { syntax }) => {
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(pattern)), (text) => {
        if (text !== "") expect([text, syntax.parse(text)]).not.toEqual([text, undefined]);
      }),
    );
  });
});
