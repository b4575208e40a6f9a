import { describe, expect, test } from "bun:test";
import { parseConfig, parseManifest } from "../../../../../src/cluster/image/core/manifest.ts";

const digest = `sha256:${"ab".repeat(32)}`;
const ociConfig = { mediaType: "application/vnd.oci.image.config.v1+json", digest, size: 1 };
const dockerConfig = { mediaType: "application/vnd.docker.container.image.v1+json", digest, size: 1 };
const manifestOf = (value: unknown) => parseManifest(JSON.stringify(value));
const configOf = (config: unknown, rest: object = {}) => parseConfig(JSON.stringify({ ...rest, config }));

describe("a manifest", () => {
  test.each([
    ["OCI's", { schemaVersion: 2, config: ociConfig, layers: [] }],
    [
      "Docker's",
      { schemaVersion: 2, mediaType: "application/vnd.docker.distribution.manifest.v2+json", config: dockerConfig },
    ],
    ["one of a thousand layers", { config: ociConfig, layers: Array(1000).fill({ ...ociConfig, size: 1e9 }) }],
  ])("%s names its config", (_, manifest) => {
    expect(manifestOf(manifest)).toEqual({ kind: "image", configDigest: digest });
  });

  test("an index names its images and the indexes in it", () => {
    const oci = "application/vnd.oci.image.manifest.v1+json";
    const manifests = [
      { mediaType: oci, digest, platform: { os: "linux", architecture: "arm64", variant: "v8" } },
      {
        mediaType: "application/vnd.docker.distribution.manifest.v2+json",
        digest,
        platform: { os: "windows", architecture: "amd64" },
      },
      { mediaType: "application/vnd.oci.image.index.v1+json", digest },
    ];
    expect(manifestOf({ schemaVersion: 2, manifests })).toEqual({
      kind: "index",
      entries: [
        { digest, platform: { os: "linux", architecture: "arm64", variant: "v8" } },
        { digest, platform: { os: "windows", architecture: "amd64", variant: "" } },
        { digest, platform: { os: "", architecture: "", variant: "" } },
      ],
    });
  });

  test.each([
    ["x86_64", "amd64"],
    ["x86-64", "amd64"],
    ["aarch64", "arm64"],
    ["constructor", "constructor"],
  ])("an index may name %s for %s", (given, architecture) => {
    const mediaType = "application/vnd.oci.image.manifest.v1+json";
    const manifests = [{ mediaType, digest, platform: { os: "linux", architecture: given } }];
    expect(manifestOf({ manifests })).toMatchObject({ entries: [{ platform: { architecture } }] });
  });

  test.each([
    ["schema 1", { schemaVersion: 1, name: "a", fsLayers: [], history: [] }, "schema 1"],
    ["a manifest and an index at once", { config: ociConfig, manifests: [] }, "at once"],
    ["a Helm chart", { config: { ...ociConfig, mediaType: "application/vnd.cncf.helm.config.v1+json" } }, "helm"],
    ["neither", { schemaVersion: 2 }, "without a config"],
    ["a digest that is none", { config: { ...ociConfig, digest: "../../etc/passwd" } }, "config.digest"],
    ["a digest of another algorithm", { config: { ...ociConfig, digest: `md5:${"ab".repeat(16)}` } }, "config.digest"],
    ["a list", [], "something else"],
    ["null", null, "something else"],
  ])("%s is refused in words", (_, value, words) => {
    expect(() => manifestOf(value)).toThrow(words);
  });

  test("what is no JSON is refused in words", () => {
    expect(() => parseManifest("<html>")).toThrow("not JSON");
  });
});

describe("a config", () => {
  test("says what the image starts", () => {
    const config = { Entrypoint: ["/app"], Cmd: ["serve"], WorkingDir: "/srv", User: "65532", StopSignal: "SIGQUIT" };
    expect(configOf(config, { os: "linux", architecture: "arm64", variant: "v8" })).toEqual({
      platform: { os: "linux", architecture: "arm64", variant: "v8" },
      entrypoint: ["/app"],
      cmd: ["serve"],
      workingDir: "/srv",
      user: "65532",
      stopSignal: "SIGQUIT",
    });
  });

  test.each([
    ["nothing", undefined],
    ["null", null],
    ["nulls", { Entrypoint: null, Cmd: null, WorkingDir: null, User: null, StopSignal: null }],
    ["empty values", { Entrypoint: [], Cmd: [], WorkingDir: "", User: "", StopSignal: "" }],
    ["one empty word, which containerd takes for none", { Entrypoint: [""] }],
  ])("%s starts nothing", (_, config) => {
    expect(configOf(config)).toEqual({
      platform: { os: "", architecture: "", variant: "" },
      entrypoint: [],
      cmd: [],
      workingDir: undefined,
      user: undefined,
      stopSignal: undefined,
    });
  });

  test.each([
    ["a text in the place of words", { Entrypoint: "/app" }, "config.Entrypoint"],
    ["numbers", { Cmd: [1] }, "config.Cmd"],
    ["too many words", { Cmd: Array(20_000).fill("") }, "more than 16384"],
    ["too long words", { Entrypoint: ["a".repeat(17_000)] }, "more than 16384"],
    ["lists without an end", { Labels: Array(200_000).fill([]) }, "more than 400000 characters outside of strings"],
  ])("%s is refused in words", (_, config, words) => {
    expect(() => configOf(config)).toThrow(words);
  });
});
