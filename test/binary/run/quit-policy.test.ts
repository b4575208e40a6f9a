import { expect, test } from "bun:test";
import { childPath } from "../../harness/compiled.ts";
import { ebb } from "../../harness/ebb.ts";
import { fakeSidecar } from "../../stand-in/sidecar.ts";

const quit = ["POST /quitquitquit"];

test.each([
  ["does not exist", "/no/such/command", 127],
  ["is not executable", "/etc", 126],
])("the sidecars are quit also when the command %s", async (_, command, code) => {
  await using sidecar = await fakeSidecar();
  const ended = await ebb(["run", "--sidecar", "envoy", "--admin", sidecar.url, "--", command]);
  expect([ended.code, sidecar.requests]).toEqual([code, quit]);
});

test.each([
  ["--quit-on success, failure", ["--quit-on", "success"], 1, false],
  ["--quit-on success, a failure that was expected", ["--quit-on", "success", "--expect-exit", "1"], 1, true],
  ["--quit-on never, success", ["--quit-on", "never"], 0, false],
  ["--restart-policy Always, failure", ["--restart-policy", "Always"], 1, false],
  [
    "--restart-policy Never, a code of the restart rules",
    ["--restart-policy", "Never", "--restart-codes", "3"],
    3,
    false,
  ],
  ["--restart-policy Never, another code", ["--restart-policy", "Never", "--restart-codes", "3"], 1, true],
  ["--restart-policy OnFailure, success", ["--restart-policy", "OnFailure"], 0, true],
])("%s: whether the sidecars are quit", async (_, flags, code, isQuit) => {
  await using sidecar = await fakeSidecar();
  const base = ["run", "--sidecar", "envoy", "--admin", sidecar.url, ...flags];
  const { log } = await ebb([...base, "--", childPath(), "exit", String(code)]);
  expect(sidecar.requests).toEqual(isQuit ? quit : []);
  const stay = log.find(({ msg }) => msg === "ebb: kept the sidecars running");
  expect(stay?.reason === undefined).toBe(isQuit);
});

test.each([
  ["NEVER_KILL_ISTIO", "true", 0, false],
  ["NEVER_KILL_ENVOY", "1", 0, false],
  ["NEVER_KILL_ISTIO", "false", 0, true],
  ["NEVER_KILL_ISTIO_ON_FAILURE", "true", 1, false],
  ["NEVER_KILL_ISTIO_ON_FAILURE", "true", 0, true],
  ["ALWAYS_KILL_ENVOY", "true", 1, true],
  ["EBB_QUIT_ON", "success", 1, false],
  ["EBB_RESTART_POLICY", "OnFailure", 1, false],
])("%s=%s with exit code %d: whether the sidecars are quit", async (name, value, code, isQuit) => {
  await using sidecar = await fakeSidecar();
  const env = { ENVOY_ADMIN_API: sidecar.url, ENVOY_KILL_API: `${sidecar.url}/quitquitquit`, [name]: value };
  const ended = await ebb(["run", "--", childPath(), "exit", String(code)], { env });
  expect([ended.code, sidecar.requests]).toEqual([code, isQuit ? quit : []]);
});

test("a flag wins over its variable", async () => {
  await using sidecar = await fakeSidecar();
  const env = { EBB_QUIT_ON: "never", NEVER_KILL_ISTIO: "true" };
  const flags = ["--sidecar", "envoy", "--admin", sidecar.url, "--quit-on", "always"];
  await ebb(["run", ...flags, "--", "true"], { env });
  expect(sidecar.requests).toEqual(quit);
});
