import { expect, test } from "bun:test";
import { injectionOptions } from "../../../../../src/cluster/inject/core/injection-options.ts";

const { entrypoint, set, image } = injectionOptions;

test.each<[string, unknown]>([
  ["app=/app --port 80", ["app", ["/app", "--port", "80"]]],
  ['app=["/app", "two words", ""]', ["app", ["/app", "two words", ""]]],
  ["registry.example.com:5000/app:1=/app", ["registry.example.com:5000/app:1", ["/app"]]],
  ["app=/app --flag=x", ["app", ["/app", "--flag=x"]]],
  ["app", undefined],
  ["app=", undefined],
  ["=/app", undefined],
  ["app=[]", undefined],
  ['app=["/app", 1]', undefined],
  ['app=["/app"', undefined],
  ['app=[""]', undefined],
])("--entrypoint %s", (given, expected) => {
  expect(entrypoint.syntax.parse(given)).toEqual(expected);
});

test.each<[string, unknown]>([
  ["drain=40s", ["drain", "40s"]],
  ["quit=POST http://localhost/x?a=b", ["quit", "POST http://localhost/x?a=b"]],
  ["drain", undefined],
  ["drain=", undefined],
  ["--drain=40s", undefined],
])("--set %s", (given, expected) => {
  expect(set.syntax.parse(given)).toEqual(expected);
});

test("an image is one word", () => {
  expect(image.syntax.parse("registry.example.com/ebb:0.1.0")).toBe("registry.example.com/ebb:0.1.0");
  expect([image.syntax.parse(""), image.syntax.parse("a b")]).toEqual([undefined, undefined]);
});
