import { expect, test } from "bun:test";
import { withScope } from "../../../../../src/cluster/api/core/kubectl-options.ts";
import { doctorOptions } from "../../../../../src/cluster/doctor/core/doctor-options.ts";
import { readFlagCall } from "../../../../../src/shared/cli/core/call.ts";
import { expandShortFlags, kubectlShort } from "../../../../../src/shared/cli/core/short-flags.ts";

test.each<[string[], namespaces: string[], json: boolean]>([
  [[], [], false],
  [["-A"], [], false],
  [["-n", "shop"], ["shop"], false],
  [["-n", "a", "-A", "--namespace=b"], [], false],
  [["-n", "a,b", "-o", "json"], ["a", "b"], true],
  [["-ojson"], [], true],
  [["--json"], [], true],
])("%j is about the namespaces %j, as JSON: %p", (words, namespaces, json) => {
  const call = readFlagCall(doctorOptions, { args: expandShortFlags(words, kubectlShort), env: {} }, "");
  const values = withScope(call.values);
  expect({ namespaces: values.namespace.flat(), json: values.json }).toEqual({ namespaces, json });
});

test.each<[string, string]>([
  ["-o yaml", '--output: expected json, got "yaml"'],
  ["-o", "--output: expected a value"],
])("%s is refused", (words, message) => {
  const args = expandShortFlags(words.split(" "), kubectlShort);
  expect(() => readFlagCall(doctorOptions, { args, env: {} }, "")).toThrow(message);
});
