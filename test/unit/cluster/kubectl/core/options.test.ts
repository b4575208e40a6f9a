import { expect, test } from "bun:test";
import { podNameIn } from "../../../../../src/cluster/kubectl/core/options.ts";

test.each([
  [["web-0"], "web-0"],
  [["pod/web-0"], "web-0"],
  [["pods/web-0"], "web-0"],
  [["po/web.0"], "web.0"],
])("%j is the pod %s", (operands, name) => expect(podNameIn(operands)).toBe(name));

test.each([[[]], [["a", "b"]], [["deployment/web"]], [["Web"]], [["../x"]], [["pod/"]]])("%j is no pod", (operands) => {
  expect(() => podNameIn(operands)).toThrow(/^POD: expected (one pod|a pod such as web-0 or pod\/web-0), got /);
});
