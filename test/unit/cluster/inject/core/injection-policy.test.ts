import { expect, test } from "bun:test";
import { injectionOptions } from "../../../../../src/cluster/inject/core/injection-options.ts";
import { injectPolicyOf } from "../../../../../src/cluster/inject/core/injection-policy.ts";
import { readOperandCall } from "../../../../../src/shared/cli/core/call.ts";

const policyFrom = (...args: readonly string[]) =>
  injectPolicyOf(readOperandCall(injectionOptions, { args, env: {} }).values);

test("the options say the policy", () => {
  expect(policyFrom("--image", "ebb:1")).toEqual({
    image: "ebb:1",
    imagePullPolicy: undefined,
    all: false,
    volume: "emptyDir",
    options: new Map(),
    entrypoints: new Map(),
  });
  const all = ["--all", "--volume", "image", "--image-pull-policy", "Never", "--set", "drain=9s", "--set", "drain=8s"];
  expect(policyFrom("--image", "ebb:1", ...all, "--entrypoint", "app=/app -v")).toEqual({
    image: "ebb:1",
    imagePullPolicy: "Never",
    all: true,
    volume: "image",
    options: new Map([["drain", "8s"]]),
    entrypoints: new Map([["app", ["/app", "-v"]]]),
  });
});

test("what is missing or cannot be meant is told at once", () => {
  expect(() => policyFrom("--set", "drian=1s", "--set", "grace=soon")).toThrow(
    [
      "--image: expected an image with ebb at /ebb, such as registry.example.com/ebb:0.1.0; neither the flag nor EBB_IMAGE is set",
      "--set drian: ebb run has no such option; did you mean drain?",
      '--set grace: expected a duration such as 30s, 1m30s or 500ms, got "soon"',
    ].join("\n"),
  );
  expect(() => policyFrom("--image", "ebb", "--set", "grace=soon")).toThrow(/^--set grace: /);
});
