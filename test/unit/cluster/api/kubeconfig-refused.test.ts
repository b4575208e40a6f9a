import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { accessFromServiceAccount, findAccess } from "../../../../src/cluster/api/access.ts";
import { Failure } from "../../../../src/shared/core/exit.ts";
import { temporaryFolder } from "../../../harness/ebb.ts";
import { collectLog } from "../collect-log.ts";
import { ask, ca, kubeconfig } from "./kubeconfigs.ts";

test.each<[string, object | string, RegExp]>([
  ["no YAML", "{a: [", /^kubeconfig .*config: /],
  ["another shape", { clusters: [{ name: 5 }] }, /clusters\.0\.name/],
  [
    "no context",
    kubeconfig({ server: "https://a" }, {}, { "current-context": "" }),
    /no current-context; name one with --context/,
  ],
  [
    "an unknown context",
    kubeconfig({ server: "https://a" }, {}, { "current-context": "z" }),
    /contexts: there is no "z"; there are: x$/,
  ],
  [
    "an unknown cluster",
    kubeconfig({ server: "https://a" }, {}, { clusters: [] }),
    /clusters: there is no "c"; there are: none$/,
  ],
  [
    "an unknown user",
    kubeconfig({ server: "https://a" }, {}, { users: [] }),
    /users: there is no "u"; there are: none$/,
  ],
  [
    "no URL",
    kubeconfig({ server: "a:6443" }, {}),
    /server: expected a URL such as https:\/\/10.0.0.1:6443, got "a:6443"$/,
  ],
  ["a CA that is not there", kubeconfig({ server: "https://a", "certificate-authority": "none.crt" }, {}), /none\.crt/],
  [
    "a plugin that is not there",
    kubeconfig({ server: "https://a", ...ca }, { exec: { command: "no-such-plugin", installHint: "Install it by x" } }),
    /exec plugin no-such-plugin failed: .*; Install it by x$/,
  ],
  [
    "a plugin that fails",
    kubeconfig({ server: "https://a", ...ca }, { exec: { command: "false" } }),
    /exec plugin false failed: exit code 1$/,
  ],
  [
    "a plugin that says something else",
    kubeconfig({ server: "https://a", ...ca }, { exec: { command: "echo", args: ["hello"] } }),
    /exec plugin echo failed: expected an ExecCredential as JSON$/,
  ],
  [
    "a way that kubectl dropped",
    kubeconfig({ server: "https://a" }, { "auth-provider": { name: "gcp" } }),
    /auth-provider is not supported/,
  ],
])("%s: refused by name", async (_, config, expected) => {
  const error = await ask({ files: { config } }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(Failure);
  expect((error as Failure).message).toMatch(expected);
});

test("no access at all: the ways are told", async () => {
  await expect(findAccess({ env: {} }, collectLog())).rejects.toThrow(
    /^no kubeconfig: name one with --kubeconfig or KUBECONFIG \(.* ServiceAccount\)$/,
  );
});

test("in a pod: the ServiceAccount's files are read anew for each request, and no proxy is asked", async () => {
  using folder = temporaryFolder();
  for (const [name, text] of Object.entries({ "ca.crt": "ca", token: "one\n", namespace: "n" }))
    writeFileSync(join(folder.path, name), text);
  const env = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443", HTTPS_PROXY: "http://proxy" };
  const access = accessFromServiceAccount(env, folder.path);
  expect(access).toMatchObject({ server: "https://[fd00::1]:443", namespace: "n" });
  expect(access.proxy).toBeUndefined();
  expect(await access.identity()).toEqual({ ca: "ca", headers: { authorization: "Bearer one" } });
  writeFileSync(join(folder.path, "token"), "two");
  expect(await access.identity()).toEqual({ ca: "ca", headers: { authorization: "Bearer two" } });
});

test("a pod without a token: refused with what it needs", () => {
  const env = { KUBERNETES_SERVICE_HOST: "10.96.0.1" };
  expect(() => accessFromServiceAccount(env, "/none")).toThrow(/automountServiceAccountToken/);
});
