import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Ajv from "ajv";
import fc from "fast-check";
import { parse } from "yaml";
import { injectionOptions } from "../../../src/cluster/inject/core/injection-options.ts";
import { annotationOptions } from "../../../src/cluster/inject/core/pod-annotations.ts";
import { reaperOptions } from "../../../src/cluster/reaper/core/reaper-options.ts";
import { webhookOptions } from "../../../src/cluster/webhook/core/webhook-options.ts";
import type { Option } from "../../../src/shared/cli/core/option.ts";

const read = (file: string) => readFileSync(join(resolve(import.meta.dirname, "../../../build/chart"), file), "utf8");
const schema = JSON.parse(read("values.schema.json"));
const isValid = new Ajv({ strict: false }).compile(schema);
const text = read("values.yaml");
const initial = parse(text);

function check(values: object) {
  return { isValid: isValid(values), errors: isValid.errors };
}

/** Values that do nothing any more, but that a values file may still have. */
const gone = { webhook: { certificateValidity: "2160h", caValidity: "17520h" } };

test("the schema has each value of values.yaml, as it is there, and no other but those that are gone", () => {
  expect(check(initial)).toEqual({ isValid: true, errors: null });
  expect(check(gone)).toEqual({ isValid: true, errors: null });
  const { global: _, enabled: __, ...properties } = schema.properties;
  expect(Object.keys(properties)).toEqual(Object.keys(initial));
  for (const key of ["image", "webhook", "reaper"])
    expect(Object.keys(properties[key].properties).filter((each) => !(key in gone && each in gone.webhook))).toEqual(
      Object.keys(initial[key]),
    );
});

test("the chart may be a part of another one, which has global values, and enables it", () => {
  expect(check({ ...initial, global: { any: "thing" }, enabled: true })).toEqual({ isValid: true, errors: null });
});

test.each<[string, object]>([
  ["an unknown value", { webhok: {} }],
  ["an unknown value of a component", { webhook: { al: true } }],
  ["a text for a number", { webhook: { replicas: "2" } }],
  ["a number that is too large", { webhook: { timeoutSeconds: 31 } }],
  ["a duration without a unit", { reaper: { after: "5" } }],
  ["an unknown word", { webhook: { failurePolicy: "ignore" } }],
  ["a requirement without values", { selector: [{ key: "a", operator: "In" }] }],
  ["values that mean nothing", { selector: [{ key: "a", operator: "Exists", values: ["b"] }] }],
  ["a Secret with more than its name", { imagePullSecrets: [{ name: "a", key: "b" }] }],
  ["a Secret without a name", { imagePullSecrets: [""] }],
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

test.each<[string, object]>([
  ["Secrets as other charts have them", { imagePullSecrets: ["a", { name: "b" }] }],
  ["a repository with the port of its registry", { image: { repository: "registry.example.com:5000/team/ebb" } }],
  [
    "a mirror with a path, and one without TLS",
    { webhook: { registryMirror: ["a.io=b.io:5000/c", "d=http://[::1]:5"] } },
  ],
  ["each option of ebb run", { webhook: { set: [...annotationOptions.keys()].map((option) => `${option}=x`) } }],
])("%s: taken", (_, values) => {
  expect(check(values)).toEqual({ isValid: true, errors: null });
});

describe("an example in values.yaml is one that the schema takes:", () => {
  const examples = [...text.matchAll(/# Example: (.*)\n *(\w+): /g)].map(
    ([, example = "", key = ""]) => [key, example] as const,
  );

  test.each(examples)("%s: %s", (key, example) => {
    const parent = ["webhook", "reaper"].find((each) => key in initial[each]);
    const value = { [key]: parse(example) };
    expect(check(parent === undefined ? value : { [parent]: value })).toEqual({ isValid: true, errors: null });
  });

  test("each list but tolerations has one", () => {
    const lists = [initial, initial.webhook, initial.reaper].flatMap((values) =>
      Object.keys(values).filter((key) => Array.isArray(values[key]) && key !== "tolerations"),
    );
    expect(lists.filter((key) => !examples.some(([each]) => each === key))).toEqual([]);
  });
});

describe("what the schema takes, ebb takes:", () => {
  const component = { webhook: { ...injectionOptions, ...webhookOptions }, reaper: reaperOptions };
  // no pattern says which quotes are pairs, and what is a port
  const unsaid = ["entrypoint", "registries", "registryMirror"];
  const patterns = Object.entries(component).flatMap(([name, options]) =>
    Object.entries<Option<unknown>>(options).flatMap(([key, { syntax }]) => {
      const value = schema.properties[name].properties[key];
      const [, definition = ""] = /^#\/definitions\/(.*)$/.exec(value?.$ref ?? "") ?? [];
      const { pattern } = { ...value?.items, ...schema.definitions[definition], ...value };
      return typeof pattern === "string" && !unsaid.includes(key) ? [[key, pattern, syntax] as const] : [];
    }),
  );

  test("which is some", () => expect(patterns.map(([key]) => key)).toEqual(["set", "after"]));

  test.each(patterns)("%s", (_, pattern, syntax) => {
    fc.assert(
      fc.property(fc.stringMatching(new RegExp(pattern)), (given) => {
        if (given !== "") expect([given, syntax.parse(given)]).not.toEqual([given, undefined]);
      }),
    );
  });
});
