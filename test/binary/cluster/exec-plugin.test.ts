import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";

test("an exec plugin is told what ebb was told, but no setting of ebb's, nor of Bun's", async () => {
  using folder = temporaryFolder();
  const [config, told] = [join(folder.path, "config"), join(folder.path, "told")];
  const exec = { command: "cp", args: ["/proc/self/environ", told], env: [{ name: "OWN", value: "o" }] };
  const kubeconfig = {
    clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
    users: [{ name: "u", user: { exec } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  writeFileSync(config, JSON.stringify(kubeconfig));
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder.path,
    HTTPS_PROXY: "http://proxy.test:3128",
    NODE_OPTIONS: "--max-old-space-size=100",
    EBB_LOG_LEVEL: "error",
    EBB_QUIT_URL: "http://user:secret@127.0.0.1:1/quit",
  };
  const { stderr } = await ebb(["reaper", "--once", "--kubeconfig", config], { env });
  expect(stderr).toContain("expected an ExecCredential as JSON");
  const entries = readFileSync(told, "utf8").split("\0").filter(Boolean);
  const names = entries.map((entry) => entry.slice(0, entry.indexOf("=")));
  expect(names.toSorted()).toEqual(["HOME", "HTTPS_PROXY", "KUBERNETES_EXEC_INFO", "NODE_OPTIONS", "OWN", "PATH"]);
});
