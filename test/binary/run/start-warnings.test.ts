import { describe, expect, test } from "bun:test";
import { ebb } from "../../harness.ts";

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
