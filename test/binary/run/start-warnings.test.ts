import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ebb, temporaryFolder } from "../../harness/ebb.ts";

describe("--quiet and --log-level set the level of the log", () => {
  test.concurrent.each<[readonly string[], Record<string, string>, readonly string[]]>([
    [["--quiet"], { EBB_LOG_LEVEL: "debug" }, []],
    [["--log-level", "warn"], { EBB_QUIET: "true", EBB_GRACEE: "1s" }, ["warn"]],
    [["--quiet=false"], { EBB_QUIET: "true", EBB_LOG_LEVEL: "warn", EBB_GRACEE: "1s" }, ["warn"]],
    [["--quiet=false", "--log-level=warn"], { EBB_GRACEE: "1s" }, ["warn"]],
    [[], { EBB_QUIET: "true", EBB_LOG_LEVEL: "debug" }, []],
  ])("%j, with %j", async (flags, env, levels) => {
    const { code, log } = await ebb(["run", "--sidecar", "none", ...flags, "--", "true"], { env });
    expect({ code, levels: log.map(({ level }) => level) }).toEqual({ code: 0, levels: [...levels] });
  });
});

test.concurrent.each<[string, readonly string[], string | undefined]>([
  [
    "longer than --drain",
    ["--drain", "10s", "--min-drain", "30s"],
    "until 9s accepts (--drain 10s shortens --min-drain 30s); drained by 10s (--drain 10s); app never",
  ],
  [
    "longer than what --pod-grace leaves",
    ["--drain", "60s", "--pod-grace", "30s", "--min-drain", "40s"],
    "until 23s accepts (--pod-grace 30s shortens --min-drain 40s); drained by 24s (--pod-grace 30s shortens",
  ],
  [
    "beside a --drain longer than what --pod-grace leaves",
    ["--drain", "5m", "--pod-grace", "10s"],
    "drained by 4.5s (--pod-grace 10s shortens --drain 5m); app killed by the kubelet at 10s",
  ],
  [
    "beside a drain and a grace that take all of --pod-grace, in one line",
    ["--drain", "20s", "--pod-grace", "30s", "--grace", "10s", "--min-drain", "20s"],
    "app killed by 29s (--grace 10s)",
  ],
  ["as long as --drain", ["--drain", "10s", "--min-drain", "10s"], undefined],
  ["by default", ["--drain", "3s"], undefined],
  ["without a drain", ["--min-drain", "30s"], undefined],
])("of the stop: a --min-drain %s", async (_, flags, said) => {
  const { code, log } = await ebb(["run", "--sidecar", "none", ...flags, "--", "true"]);
  const warnings = log.filter(({ level }) => level === "warn");
  const stop = expect.stringContaining(said ?? "");
  expect(warnings).toMatchObject(said === undefined ? [] : [{ msg: "ebb: the stop does not fit: shortened it", stop }]);
  expect(code).toBe(0);
});

describe("a sidecar that --sidecar leaves out, and that would keep the pod running", () => {
  const msg = "ebb: --sidecar leaves out sidecars of this pod: they keep it running";
  const dapr = { DAPR_HTTP_PORT: "3500" };
  const named = ["--sidecar", "istio", "--quit-timeout", "10ms"];
  const run = (...flags: readonly string[]) => ["run", ...named, "--no-wait", ...flags, "--", "true"];

  test.concurrent.each([
    ["ebb run", run()],
    ["ebb run, if a failure keeps it", run("--restart-policy", "OnFailure")],
    ["ebb quit", ["quit", ...named]],
  ])("%s says so, and what to write", async (_, args) => {
    const { log } = await ebb(args, { env: dapr });
    expect(log.filter((line) => line.msg === msg)).toEqual([
      expect.objectContaining({
        level: "warn",
        sidecars: ["dapr"],
        by: "DAPR_HTTP_PORT",
        how: "set --sidecar istio,dapr, or --sidecar auto,istio",
      }),
    ]);
  });

  test.concurrent.each([
    ["of a server's run, which shuts none down", run("--restart-policy", "Always")],
    ["of a run that shuts none down", run("--quit-on", "never")],
    ["with --sidecar none", ["run", "--sidecar", "none", "--", "true"]],
    ["with auto", ["run", "--sidecar", "auto,istio", "--no-wait", "--quit-timeout", "10ms", "--", "true"]],
  ])("nothing is said %s", async (_, args) => {
    const { log } = await ebb(args, { env: dapr });
    expect(log.filter((line) => line.msg === msg)).toEqual([]);
  });

  test.concurrent("an annotation shows it, too", async () => {
    using folder = temporaryFolder();
    const path = join(folder.path, "annotations");
    await Bun.write(path, 'vault.hashicorp.com/agent-inject-status="injected"\n');
    const { log } = await ebb(run("--pod-annotations", path));
    expect(log.find((line) => line.msg === msg)).toMatchObject({
      sidecars: ["vault-agent"],
      by: "annotation vault.hashicorp.com/agent-inject-status",
    });
  });
});
