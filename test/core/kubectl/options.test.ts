import { expect, test } from "bun:test";
import { podNameIn, translate } from "../../../src/core/kubectl/options.ts";

test.each([
  [["web-0"], "web-0"],
  [["pod/web-0"], "web-0"],
  [["pods/web-0"], "web-0"],
  [["po/web.0"], "web.0"],
])("%j is the pod %s", (operands, name) => expect(podNameIn(operands)).toBe(name));

test.each([[[]], [["a", "b"]], [["deployment/web"]], [["Web"]], [["../x"]], [["pod/"]]])("%j is no pod", (operands) => {
  expect(() => podNameIn(operands)).toThrow(/^POD: expected (one pod|a pod such as web-0 or pod\/web-0), got /);
});

test.each<[readonly string[], readonly string[], string]>([
  [[], [], "current"],
  [["--all-namespaces"], [], "all"],
  [["--namespace", "shop"], ["--namespace=shop"], "given"],
  [["--namespace", "a", "--all-namespaces", "--namespace=b", "--dry-run"], ["--dry-run"], "all"],
  [["--namespace=shop"], ["--namespace=shop"], "given"],
  [["--namespace"], ["--namespace"], "given"],
  [["--output", "json", "--dry-run"], ["--json", "--dry-run"], "current"],
  [["--output=json", "--selector=a=b"], ["--json", "--selector=a=b"], "current"],
])("%j becomes %j, in the namespace: %s", (given, args, namespace) => {
  expect(translate(given)).toMatchObject({ args, namespace });
});

test.each([
  [["--output", "yaml"], '--output: expected json, got "yaml"'],
  [["--output"], '--output: expected json, got ""'],
])("%j is refused", (given, reason) => expect(() => translate(given)).toThrow(reason));
