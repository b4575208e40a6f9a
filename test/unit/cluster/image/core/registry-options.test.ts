import { expect, test } from "bun:test";
import { registryOptions, webhookRegistryOptions } from "../../../../../src/cluster/image/core/registry-options.ts";

test.each([
  ["all", "all", undefined],
  ["none", [], []],
  ["docker.io,LOCALHOST:5000", ["docker.io", "localhost:5000"], ["docker.io", "localhost:5000"]],
  ["none,docker.io", undefined, undefined],
  ["docker.io,all", undefined, undefined],
  ["", undefined, undefined],
  ["https://docker.io", undefined, undefined],
  ["index.docker.io,quay.io", ["docker.io", "quay.io"], ["docker.io", "quay.io"]],
])("--registries %s may ask %j, in the webhook %j", (text, registries, ofWebhook) => {
  expect<unknown>(registryOptions.registries.syntax.parse(text)).toEqual(registries);
  expect<unknown>(webhookRegistryOptions.registries.syntax.parse(text)).toEqual(ofWebhook);
});
