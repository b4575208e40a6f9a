import { expect, test } from "bun:test";
import { app, type Given, warnings } from "../injection.ts";

const prefix = "vault.hashicorp.com/";
const vault = {
  [`${prefix}agent-inject`]: "true",
  [`${prefix}agent-pre-populate`]: "false",
  [`${prefix}agent-enable-quit`]: "true",
};

test.each<[string, Record<string, string>, string | undefined]>([
  ["no secret that is seen", {}, "file:/vault/secrets/NAME?nonempty"],
  ["a secret", { [`${prefix}agent-inject-secret-DB`]: "a" }, "file:/vault/secrets/db?nonempty"],
  [
    "templates, files and folders",
    {
      [`${prefix}agent-inject-template-a`]: "x",
      [`${prefix}agent-inject-file-a`]: "sub/A.txt",
      [`${prefix}agent-inject-template-file-b`]: "x",
      [`${prefix}secret-volume-path-b`]: "/etc/b",
      [`${prefix}agent-inject-secret-c`]: "x",
      [`${prefix}secret-volume-path`]: "/etc/all",
    },
    "file:/etc/all/sub/A.txt?nonempty,file:/etc/b/b?nonempty,file:/etc/all/c?nonempty",
  ],
  ["an init container", { [`${prefix}agent-pre-populate`]: "true" }, undefined],
  ["an init container alone", { [`${prefix}agent-pre-populate-only`]: "true" }, undefined],
  ["no agent", { [`${prefix}agent-inject`]: "false" }, undefined],
  ["a target of the user's", { "ebb.dev/ready": "file:/vault/secrets/db?nonempty" }, undefined],
])("secrets that Vault Agent writes after the app's start: %s", (_, more, target) => {
  const given: Given = { containers: [app()], annotations: { ...vault, ...more } };
  const expected = target === undefined ? [] : [["metadata.annotations", expect.stringMatching(/is false: set /)]];
  expect(warnings(given)).toEqual(expected as never);
  if (target !== undefined) expect(warnings(given)[0]?.[1]).toEndWith(`set ebb.dev/ready: ${target}`);
});
