import { describe, expect, test } from "bun:test";
import { type Architecture, architectures } from "../../../../../src/cluster/image/core/lookup.ts";
import type { ImageConfig } from "../../../../../src/cluster/image/core/manifest.ts";
import { chooseEntry, commandOf } from "../../../../../src/cluster/image/core/platform.ts";

function chosen(platforms: readonly string[], wanted: readonly Architecture[] = architectures): readonly string[] {
  const entries = platforms.map((digest) => {
    const [os = "", architecture = "", variant = ""] = digest.split("/");
    return { digest, platform: { os, architecture, variant } };
  });
  return wanted.flatMap((each) => chooseEntry({ kind: "index", entries }, each)?.digest ?? []);
}

describe("the images of an index that count", () => {
  test.each<[string, readonly string[], readonly Architecture[], readonly string[]]>([
    ["both", ["linux/amd64", "linux/arm64/v8"], architectures, ["linux/amd64", "linux/arm64/v8"]],
    ["one that the pod names", ["linux/amd64", "linux/arm64/v8"], ["arm64"], ["linux/arm64/v8"]],
    ["the one that there is", ["linux/amd64", "linux/s390x"], architectures, ["linux/amd64"]],
    ["none for Windows", ["windows/amd64", "linux/arm/v7", "unknown/unknown"], architectures, []],
    ["the one for every processor", ["linux/amd64/v3", "linux/amd64", "linux/amd64/v2"], ["amd64"], ["linux/amd64"]],
    ["another one if there is no such", ["linux/arm64/v9"], ["arm64"], ["linux/arm64/v9"]],
    ["one of no platform, after all others", ["", "linux/amd64"], architectures, ["linux/amd64", ""]],
    ["the first of two", ["linux/amd64", "linux/amd64"], ["amd64"], ["linux/amd64"]],
  ])("%s", (_, platforms, wanted, result) => {
    expect(chosen(platforms, wanted)).toEqual(result);
  });
});

const config = (architecture: string, starts: Partial<ImageConfig>): ImageConfig => ({
  platform: { os: "linux", architecture, variant: "" },
  entrypoint: [],
  cmd: [],
  workingDir: undefined,
  user: undefined,
  stopSignal: undefined,
  ...starts,
});
const decide = (...configs: readonly ImageConfig[]) =>
  commandOf(
    { image: "app:1", architectures },
    {
      digest: "sha256:0",
      platforms: [{ os: "windows", architecture: "amd64", variant: "" }],
      configs,
    },
  );

describe("what an image starts", () => {
  test("is what all of them say", () => {
    const starts = { entrypoint: ["/app"], cmd: ["serve"], stopSignal: "SIGQUIT" };
    expect(decide(config("amd64", starts), config("arm64", { ...starts, user: "1" }))).toEqual({
      kind: "found",
      command: starts,
    });
  });

  test("has no stop signal if they do not agree on it", () => {
    expect(
      decide(config("amd64", { cmd: ["a"], stopSignal: "SIGQUIT" }), config("arm64", { cmd: ["a"] })),
    ).toMatchObject({
      command: { stopSignal: undefined },
    });
  });

  test("is not known if they start different commands: both are shown", () => {
    const [amd64, arm64] = [config("amd64", { entrypoint: ["/a"] }), config("arm64", { cmd: ["/a"] })];
    expect(decide(amd64, arm64)).toEqual({
      kind: "unknown",
      failure: "ambiguous",
      reason: expect.stringContaining('app:1 starts ENTRYPOINT ["/a"] on amd64, CMD ["/a"] on arm64'),
    });
  });

  test("is not known if it is for thousands of platforms: the first are shown", () => {
    const platforms = Array(10_000).fill({ os: "plan9\n", architecture: "amd64", variant: "" });
    const { reason } = commandOf({ image: "app:1", architectures }, { digest: "sha256:0", platforms, configs: [] }) as {
      reason: string;
    };
    expect(reason).toStartWith("app:1 is for plan9\\n/amd64, plan9\\n/amd64, ");
    expect(reason.length).toBeLessThan(1100);
  });

  test("is not known if it is for other platforms: they are shown", () => {
    expect(decide()).toEqual({
      kind: "unknown",
      failure: "other-platform",
      reason: expect.stringContaining("app:1 is for windows/amd64 only"),
    });
  });

  test.each([
    ["linux/arm64", "app:1 is for linux/arm64 only, and the pod for linux/amd64, by its node selector or affinity"],
    ["", "app:1 has an index that names no image for a platform"],
    [undefined, "app:1 has an index that names no image for a platform"],
  ])("is not known where the pod is for another processor than the image: %p", (platform, reason) => {
    const [os = "", architecture = ""] = (platform ?? "").split("/");
    const platforms = platform === undefined ? [] : [{ os, architecture, variant: "" }];
    const query = { image: "app:1", architectures: ["amd64"] } as const;
    expect(commandOf(query, { digest: "sha256:0", platforms, configs: [] })).toMatchObject({ reason });
  });
});
