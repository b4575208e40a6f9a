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

test.concurrent.each<[string, readonly string[], object | undefined]>([
  [
    "longer than --drain",
    ["--drain", "10s", "--min-drain", "30s"],
    { minDrainMs: 30_000, atMostMs: 10_000, fitsMs: 9000 },
  ],
  [
    "longer than what --pod-grace leaves",
    ["--drain", "60s", "--pod-grace", "30s", "--min-drain", "40s"],
    { minDrainMs: 40_000, atMostMs: 24_000, fitsMs: 23_000 },
  ],
  ["as long as --drain", ["--drain", "10s", "--min-drain", "10s"], undefined],
  ["by default", ["--drain", "3s"], undefined],
  ["without a drain", ["--min-drain", "30s"], undefined],
])("a --min-drain %s", async (_, flags, said) => {
  const { code, log } = await ebb(["run", "--sidecar", "none", ...flags, "--", "true"]);
  const line = log.find(({ msg }) => msg === "ebb: --min-drain does not fit into the drain: shortened it");
  if (said === undefined) expect(line).toBeUndefined();
  else expect(line).toMatchObject({ level: "warn", ...said });
  expect(code).toBe(0);
});
