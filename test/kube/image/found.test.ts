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
    for (const name of ["", ":latest", `@${digest}`, `:other@${digest}`]) {
      expect(await findOnce(`${registry.host}/team/app${name}`)).toEqual({
        kind: "found",
        command: { ...command, digest },
      });
    }
    expect(await findOnce(`${registry.host}/team/app@${sha512}`)).toMatchObject({ command: { digest: sha512 } });
  });

  test("is found with a manifest of a thousand layers, and no layer is asked for", async () => {
    const content = new Content();
    content.add("app:latest", { config: app, layers: 1000 });
    await using registry = startStandIn(content);
    expect(await findOnce(`${registry.host}/app`)).toMatchObject({ kind: "found", command });
    expect(registry.take()).toHaveLength(2);
  });

  test("is asked for the processors alone on which the pod may run", async () => {
    const content = new Content();
    const digest = content.add(
      "app:latest",
      { platform: "linux/amd64", config: app },
      { platform: "linux/arm64/v8", config: { Cmd: ["/other"] } },
      { platform: "linux/s390x", config: { Cmd: ["/big"] } },
    );
    await using registry = startStandIn(content);
    using asking = createAsking();
    const image = `${registry.host}/app`;
    expect(await find(asking, image, [], ["amd64"])).toEqual({ kind: "found", command: { ...command, digest } });
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
});
