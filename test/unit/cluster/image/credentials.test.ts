import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ownAuths, usualPaths } from "../../../../src/cluster/image/credentials.ts";
import { temporaryFolder } from "../../../harness/ebb.ts";
import { collectLog } from "../collect-log.ts";

const auths = { "quay.io": { username: "me", password: "pw" } };

/** Resolves with the passwords that a `config.json` of Docker's has for quay.io, and with the reasons of warnings. */
async function read(config: object) {
  using folder = temporaryFolder();
  writeFileSync(join(folder.path, "config.json"), JSON.stringify(config));
  const log = collectLog();
  const env = { DOCKER_CONFIG: folder.path, HOME: "/nowhere", XDG_RUNTIME_DIR: "/nowhere" };
  const found = await ownAuths({ registryConfig: undefined, isAtDesk: true, env, log })("quay.io");
  return {
    passwords: found.flatMap((each) => [...each.values()].map(({ password }) => password)),
    reasons: log.lines.map(({ fields }) => fields.reason),
  };
}

test("a program for credentials that is not in PATH is named, not the file", async () => {
  expect(await read({ credHelpers: { "quay.io": "no-such" } })).toEqual({
    passwords: [],
    reasons: [
      "docker-credential-no-such, which this file names, is not in PATH: install it, or take it out of the file",
    ],
  });
});

test.each([
  [{ XDG_RUNTIME_DIR: "/run/user/7" }, "/run/user/7/containers/auth.json"],
  [{}, `/run/containers/${process.getuid?.()}/auth.json`],
  [{ REGISTRY_AUTH_FILE: "/auth.json" }, "/auth.json"],
])("with %j podman's file is %s", (env, path) => {
  const others = ["/home/me/.docker/config.json", "/home/me/.config/containers/auth.json"];
  expect(usualPaths({ HOME: "/home/me", ...env })).toEqual([others[0] as string, path, others[1] as string]);
});

test("an empty name of a program stands for the file itself, also beside a credsStore", async () => {
  const config = { auths, credHelpers: { "quay.io": "" }, credsStore: "no-such" };
  expect(await read(config)).toEqual({ passwords: ["pw"], reasons: [] });
});
