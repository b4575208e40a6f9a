import { describe, expect, test } from "bun:test";
import { createAsking, find, findOnce } from "./asking.ts";
import { Content, digestOf, startStandIn } from "./stand-in-registry.ts";

const app = { Entrypoint: ["/app"], Cmd: ["serve"], StopSignal: "SIGQUIT" };
const command = { entrypoint: ["/app"], cmd: ["serve"], stopSignal: "SIGQUIT" };

describe("what a registry says of an image", () => {
  test("is found by tag and by digest, of either algorithm", async () => {
    const content = new Content();
    const digest = content.add("team/app:latest", { config: app });
    await using registry = startStandIn(content);
    const manifest = content.manifests.get("team/app/latest") ?? "";
    const sha512 = digestOf(manifest, "sha512");
    for (const name of ["", ":latest", `@${digest}`, `:other@${digest}`, `@${sha512}`])
      expect(await findOnce(`${registry.host}/team/app${name}`)).toEqual({ kind: "found", command });
  });

  test("is found with a manifest of a thousand layers, and no layer is asked for", async () => {
    const content = new Content();
    content.add("app:latest", { config: app, layers: 1000 });
    await using registry = startStandIn(content);
    expect(await findOnce(`${registry.host}/app`)).toMatchObject({ kind: "found", command });
    expect(registry.take()).toHaveLength(2);
  });

  test("is asked for unpacked, so that no small answer becomes a large one", async () => {
    const content = new Content();
    content.add("app:latest", { config: app });
    await using registry = startStandIn(content);
    await findOnce(`${registry.host}/app`);
    const codings = registry.got.map(({ request }) => request.headers.get("accept-encoding"));
    expect(codings).toEqual(["identity", "identity"]);
  });

  test("is asked for the processors alone on which the pod may run", async () => {
    const content = new Content();
    content.add(
      "app:latest",
      { platform: "linux/amd64", config: app },
      { platform: "linux/arm64/v8", config: { Cmd: ["/other"] } },
      { platform: "linux/s390x", config: { Cmd: ["/big"] } },
    );
    await using registry = startStandIn(content);
    using asking = createAsking();
    const image = `${registry.host}/app`;
    expect(await find(asking, image, [], ["amd64"])).toEqual({ kind: "found", command });
    expect(registry.take()).toHaveLength(3);
    expect(await find(asking, image, [], ["arm64"])).toMatchObject({ command: { entrypoint: [], cmd: ["/other"] } });
    expect(await find(asking, image)).toMatchObject({
      failure: "ambiguous",
      reason: expect.stringContaining('ENTRYPOINT ["/app"] CMD ["serve"] on amd64, CMD ["/other"] on arm64'),
    });
  });

  test.each([
    ["an image for another processor", [{ platform: "linux/s390x" }], "linux/s390x only"],
    ["an image for Windows", [{ platform: "windows/amd64" }], "windows/amd64 only"],
    [
      "an index of others",
      [{ platform: "linux/arm/v7" }, { platform: "linux/ppc64le" }],
      "linux/arm/v7, linux/ppc64le only",
    ],
  ])("is nothing of use for %s", async (_, images, words) => {
    const content = new Content();
    content.add("app:latest", ...images);
    await using registry = startStandIn(content);
    expect(await findOnce(`${registry.host}/app`)).toMatchObject({
      failure: "other-platform",
      reason: expect.stringContaining(words),
    });
  });

  test("counts for any processor if the image names none", async () => {
    const content = new Content();
    content.add("app:latest", { platform: "", config: app });
    await using registry = startStandIn(content);
    expect(await findOnce(`${registry.host}/app`)).toMatchObject({ kind: "found", command });
  });

  /** Adds an index of descriptors under a tag, and returns a descriptor of it. */
  const indexed = (content: Content, tag: string, ...manifests: readonly object[]) => {
    const mediaType = "application/vnd.oci.image.index.v1+json";
    return { mediaType, digest: content.put("app", tag, JSON.stringify({ schemaVersion: 2, mediaType, manifests })) };
  };
  const described = (content: Content, platform: string, entrypoint: string) => ({
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    digest: content.add("app:x", { platform, config: { Entrypoint: [entrypoint] } }),
  });

  test("is read of an index in an index, and of an entry without a platform, as containerd reads it", async () => {
    const content = new Content();
    const platform = { os: "linux", architecture: "arm64" };
    const inner = indexed(content, "inner", { ...described(content, "linux/arm64", "/arm"), platform });
    indexed(content, "latest", described(content, "linux/amd64", "/amd"), { ...inner, platform });
    await using registry = startStandIn(content);
    using asking = createAsking();
    const image = `${registry.host}/app`;
    expect(await find(asking, image, [], ["amd64"])).toMatchObject({ command: { entrypoint: ["/amd"] } });
    expect(await find(asking, image, [], ["arm64"])).toMatchObject({ command: { entrypoint: ["/arm"] } });
  });

  test("is not prevented by an entry without a platform that is no image", async () => {
    const content = new Content();
    const config = { mediaType: "application/vnd.oci.empty.v1+json", digest: digestOf("{}") };
    const signature = {
      mediaType: config.mediaType,
      digest: content.put("app", "signature", JSON.stringify({ config })),
    };
    const platform = { os: "linux", architecture: "amd64" };
    indexed(content, "latest", { ...described(content, "linux/amd64", "/app"), platform }, signature);
    await using registry = startStandIn(content);
    expect(await findOnce(`${registry.host}/app`)).toMatchObject({ command: { entrypoint: ["/app"] } });
  });

  test.each([
    [2, { kind: "found" }],
    [3, { failure: "invalid", reason: expect.stringContaining("has more than 3 indexes one in another") }],
  ])("is read through %d indexes in an index", async (depth, result) => {
    const content = new Content();
    let entry = described(content, "linux/amd64", "/app");
    for (let at = 0; at < depth; at += 1) entry = indexed(content, `${at}`, entry);
    indexed(content, "latest", entry);
    await using registry = startStandIn(content);
    expect(await findOnce(`${registry.host}/app`)).toMatchObject(result);
  });
});
