import { describe, expect, test } from "bun:test";
import Ajv from "ajv";
import fc from "fast-check";
import { parse } from "yaml";
import { chartFiles } from "../../../build/chart/chart.ts";
import { chartValues } from "../../../build/chart/chart-values.ts";
import { others, type Schema, valueOfOption } from "../../../build/chart/values.ts";
import { installationOptions } from "../../../src/core/cli/cluster/installation-options.ts";
import type { Option } from "../../../src/core/cli/option.ts";

const files = chartFiles("");
const isValid = new Ajv({ strict: false }).compile(JSON.parse(files.get("values.schema.json") ?? ""));
const initial = parse(files.get("values.yaml") ?? "");

function valueAt(path: string): unknown {
  return path.split(".").reduce((at, key) => at[key], initial);
}

test("every option of ebb manifests is a value of the chart, or there is a reason why not", () => {
  const paths = chartValues("").map(({ path }) => path);
  expect(new Set(paths).size).toBe(paths.length);
  const missing = Object.keys(installationOptions).filter((key) => !paths.includes(valueOfOption(key)?.path ?? "none"));
  expect(missing.sort()).toEqual(Object.keys(others).sort());
});

test("values.yaml has every value, as the schema has it", () => {
  for (const { path, initial: value } of chartValues("")) {
    expect(valueAt(path)).toEqual(value as never);
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
  ["a Secret with more than its name", { imagePullSecrets: [{ name: "a", key: "b" }] }],
  ["a repository with its tag", { image: { repository: "r/ebb:0.1.0" } }],
  ["a repository with its digest", { image: { repository: `r/ebb@sha256:${"0".repeat(64)}` } }],
  ["all registries", { webhook: { registries: ["all"] } }],
  ["a registry with its scheme", { webhook: { registries: ["https://docker.io"] } }],
  ["a mirror of none", { webhook: { registryMirror: ["mirror.example.com"] } }],
  ["an unknown option of ebb run", { webhook: { set: ["foo=1"] } }],
  ["an option of ebb run without its value", { webhook: { set: ["drain="] } }],
  ["a method twice", { reaper: { methods: ["exec", "exec"] } }],
])("%s is refused", (_, values) => {
  expect(isValid(values)).toBe(false);
});

test("the chart may be a part of another one, which has global values, and enables it", () => {
  expect(isValid({ ...initial, global: { any: "thing" }, enabled: true })).toBe(true);
});

describe("a value in a comment is one that the schema takes:", () => {
  const inComments = chartValues("").flatMap(({ path, comment }) =>
    [...comment.matchAll(/; (?:here such as|default:) ([[{\d][^;]*)/g)].map(([, text = ""]) => [path, text] as const),
  );

  test.each(inComments)("%s: %s", (path, text) => {
    const [key = "", above] = path.split(".").reverse();
    const value = { [key]: parse(text) };
    expect(isValid(above === undefined ? value : { [above]: value })).toBe(true);
  });

  test("lists have one", () => {
    const lists = chartValues("").filter(({ path }) => Array.isArray(valueAt(path)) && !path.endsWith("tolerations"));
    expect(lists.length).toBeGreaterThan(8);
    const paths = inComments.map(([path]) => path);
    expect(lists.map(({ path }) => path).filter((path) => !paths.includes(path))).toEqual([]);
  });
});

test.each<[string, object]>([
  ["Secrets as other charts have them", { imagePullSecrets: ["a", { name: "b" }] }],
  ["a repository with the port of its registry", { image: { repository: "registry.example.com:5000/team/ebb" } }],
  [
    "a mirror with a path, and one without TLS",
    { webhook: { registryMirror: ["a.io=b.io:5000/c", "d=http://[::1]:5"] } },
  ],
])("%s: taken", (_, values) => {
  expect({ isValid: isValid(values), errors: isValid.errors }).toEqual({ isValid: true, errors: null });
});

describe("what the schema takes, ebb takes:", () => {
  const unsaid = ["entrypoint", "registries", "registryMirror"]; // no pattern says which quotes are pairs, and what is a port
  const patterns = Object.entries(installationOptions).flatMap(([key, option]) => {
    const { schema } = valueOfOption(key) ?? {};
    const { pattern } = { ...(schema?.items as Schema | undefined), ...schema };
    return typeof pattern === "string" && !unsaid.includes(key)
      ? [[key, pattern, option as Option<unknown>] as const]
      : [];
  });

  test.each(patterns)("%s", (_, pattern, { syntax }) => {
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(pattern)), (text) => {
        if (text !== "") expect([text, syntax.parse(text)]).not.toEqual([text, undefined]);
      }),
    );
  });
});
