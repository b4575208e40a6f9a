import { describe, expect, test } from "bun:test";
import { createServer } from "node:net";
import { until } from "../../../harness/ebb.ts";
import { listen } from "../../../harness/free-port.ts";
import { createAsking, find, findOnce } from "./asking.ts";
import { type Behaviour, Content, expired, refusal, startStandIn, wantsToken } from "./stand-in-registry.ts";

const content = new Content();
const digest = content.add("app:latest", { config: { Entrypoint: ["/app"] } });
const manifest = content.manifests.get("app/latest") ?? "";
const oci = "application/vnd.oci.image.config.v1+json";

/** Answers some requests, by a part of their line. */
const at =
  (part: string, answer: () => Response | Promise<Response>): Behaviour =>
  ({ line }) =>
    line.includes(part) ? answer() : undefined;
const redirect = (location: string) => () => new Response(null, { status: 307, headers: { location } });
/** A body without an end. */
const endless = () =>
  new Response(
    new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(64 * 1024).fill(0x20)),
    }),
  );
/** A body that begins, and then nothing comes. */
const beginning = () =>
  new Response(new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("{")) }));

describe("a registry that refuses, fails or lies costs no more than the answer", () => {
  test.each<[string, Behaviour, string, string]>([
    [
      "401 without a way to authenticate",
      () => refusal(401, "UNAUTHORIZED", "no"),
      "unauthorized",
      "401 without a way",
    ],
    [
      "401 that wants a password",
      () => new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="x"' } }),
      "unauthorized",
      "imagePullSecrets",
    ],
    ["403", () => refusal(403, "DENIED", "not yours"), "unauthorized", "refuses app (403): give credentials"],
    [
      "404",
      () => refusal(404, "MANIFEST_UNKNOWN", "manifest unknown"),
      "not-found",
      "has no app:latest (404): check the name and the tag; it says: MANIFEST_UNKNOWN: manifest unknown",
    ],
    ["404 for the config", at("/blobs/", () => new Response("", { status: 404 })), "not-found", "has no app@sha256:"],
    [
      "429",
      () => refusal(429, "TOOMANYREQUESTS", "limit", { "retry-after": "60" }),
      "rate-limited",
      "--registry-mirror",
    ],
    ["500", () => new Response("<html>", { status: 500 }), "unreachable", "fails (500): try again later"],
    ["418", () => new Response("", { status: 418 }), "invalid", "refuses app (418)"],
    ["HTML", () => new Response("<html>"), "invalid", "not JSON"],
    ["an empty answer", () => new Response(""), "invalid", "not JSON: check that a registry answers there"],
    ["schema 1", () => Response.json({ schemaVersion: 1, fsLayers: [] }), "invalid", "schema 1"],
    [
      "schema 1 with signatures, which its digest leaves out",
      () => {
        const type = "application/vnd.docker.distribution.manifest.v1+prettyjws";
        return new Response("{}", { headers: { "content-type": type, "docker-content-digest": digest } });
      },
      "invalid",
      "schema 1",
    ],
    ["a manifest without an end", endless, "invalid", "an answer longer than 1 MiB"],
    ["a config without an end", at("/blobs/", endless), "invalid", "an answer longer than 1 MiB"],
    ["a refusal without an end", () => new Response(endless().body, { status: 403 }), "unauthorized", "403"],
    [
      "a digest of the manifest that is not its own",
      at(
        "/manifests/",
        () => new Response(manifest, { headers: { "docker-content-digest": `sha256:${"0".repeat(64)}` } }),
      ),
      "invalid",
      `sent bytes of the digest ${digest} for sha256:000`,
    ],
    [
      "a config of another digest",
      at("/blobs/", () => Response.json({ config: {} })),
      "invalid",
      "sent bytes of the digest",
    ],
    [
      "a digest that is a path",
      at("/manifests/", () => Response.json({ config: { mediaType: oci, digest: "sha256:../../../etc/passwd" } })),
      "invalid",
      "config.digest",
    ],
    ["a redirect to itself", ({ line }) => redirect(line.split(" ")[1] ?? "")(), "invalid", "more than 5 times"],
    ["a redirect to no URL", redirect("https://"), "invalid", "not a URL to follow"],
    ["a redirect to a file", redirect("file:///etc/passwd"), "invalid", "not a URL to follow"],
    [
      "a redirect with a password in it",
      redirect("https://user:secret@localhost:1/"),
      "invalid",
      "https://***@localhost:1/",
    ],
    ["a redirect without TLS", redirect("http://localhost:1/"), "invalid", "no TLS: set the registry's external URL"],
    ["a realm that is no URL", () => wantsToken("nowhere:"), "invalid", "not a URL to follow"],
    ["a realm without TLS", () => wantsToken("http://localhost:1/"), "invalid", "no TLS"],
    [
      "words that would write to a terminal",
      () => refusal(403, "DENIED", "\u001b[2J\nebb: error: all is lost"),
      "unauthorized",
      "\\u001b[2J\\nebb",
    ],
  ])("%s", async (_, behave, failure, words) => {
    await using registry = startStandIn(content, behave);
    const lookup = await findOnce(`${registry.host}/app`);
    expect(lookup).toMatchObject({ kind: "unknown", failure, reason: expect.stringContaining(words) });
    expect(JSON.stringify(lookup)).not.toContain("secret");
    expect(JSON.stringify(lookup).length).toBeLessThan(1500);
  });

  test("a lying digest for an image that is named by digest", async () => {
    const zeros = `sha256:${"0".repeat(64)}`;
    await using registry = startStandIn(
      content,
      at(zeros, () => new Response(manifest)),
    );
    expect(await findOnce(`${registry.host}/app@${zeros}`)).toMatchObject({ failure: "invalid" });
  });

  test("a lying digest of one platform in an index", async () => {
    const index = new Content();
    index.add("app:latest", { platform: "linux/amd64" }, { platform: "linux/arm64", config: { Cmd: ["/a"] } });
    const behave: Behaviour = ({ line }) =>
      line.includes("/manifests/sha256:") ? new Response(`${manifest} `) : undefined;
    await using registry = startStandIn(index, behave);
    expect(await findOnce(`${registry.host}/app`)).toMatchObject({ failure: "invalid" });
  });

  test("401 to a person is to log in", async () => {
    const login = () => new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="x"' } });
    await using registry = startStandIn(content, login);
    const reason = `${registry.host} refuses app without credentials (401): log in (docker login ${registry.host}), or give --registry-config FILE, or there is no such repository: check the name`;
    const env = { HOME: "/nowhere" };
    expect(await findOnce(`${registry.host}/app`, { isAtDesk: true, env })).toMatchObject({ reason });
  });
});

test("a registry that sends much to many at once is read up to 8 MiB, and its images are asked for again", async () => {
  const { promise: end, resolve } = Promise.withResolvers<void>();
  const large = " ".repeat(1_000_000);
  const slow = () =>
    new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(Buffer.from(large));
          await end;
          controller.enqueue(Buffer.from(manifest));
          controller.close();
        },
      }),
    );
  await using registry = startStandIn(content, at("/app-", slow));
  await using other = startStandIn(content);
  using asking = createAsking();
  const names = Array.from({ length: 12 }, (_, each) => `${registry.host}/app-${each}`);
  const refused: unknown[] = [];
  const all = names.map(async (name) => {
    const { kind, ...lookup } = await find(asking, name);
    if (kind === "unknown" && JSON.stringify(lookup).includes("too many large answers")) refused.push(name);
  });
  await until("some are refused", () => refused.length > 0 || undefined);
  expect(await find(asking, `${other.host}/app`)).toMatchObject({ kind: "found" });
  resolve();
  await Promise.all(all);
  expect(refused.length).toBeLessThan(5);
  const [again] = refused;
  expect(asking.images.remembered({ image: `${again}`, architectures: ["amd64"] }, [])).toBeUndefined();
  expect(await find(asking, `${registry.host}/app`)).toMatchObject({ kind: "found" });
});

describe("a registry that cannot be talked to", () => {
  test("nobody listens", async () => {
    expect(await findOnce("127.0.0.1:1/app")).toMatchObject({
      failure: "unreachable",
      reason: expect.stringContaining("127.0.0.1:1 cannot be reached: connection refused"),
    });
  });

  test("there is no such host", async () => {
    expect(await findOnce("nowhere.invalid/app")).toMatchObject({
      failure: "unreachable",
      reason: expect.stringContaining("no such host"),
    });
  });

  test("its CA is unknown", async () => {
    await using registry = startStandIn(content);
    expect(await findOnce(`${registry.host}/app`, { caFile: undefined })).toMatchObject({
      failure: "untrusted",
      reason: expect.stringContaining("--ca-file"),
    });
    expect(registry.got).toEqual([]);
  });

  test("its certificate is for another name", async () => {
    await using registry = startStandIn(content);
    const [, port] = registry.host.split(":");
    expect(await findOnce(`127.0.0.1:${port}/app`)).toMatchObject({
      failure: "untrusted",
      reason: `127.0.0.1:${port} is not trusted: its certificate is for another host name; the server needs one for this name`,
    });
  });

  test("the certificate of the server to which it refers is for another name", async () => {
    await using registry = startStandIn(content, (_, { host }) => redirect(`https://127.0.0.1:${host.slice(10)}/`)());
    expect(await findOnce(`${registry.host}/app`)).toMatchObject({
      failure: "untrusted",
      reason: expect.stringContaining(
        `, to which ${registry.host} refers, is not trusted: its certificate is for another host name`,
      ),
    });
  });

  test("its certificate has expired", async () => {
    await using registry = startStandIn(content, undefined, expired);
    expect(await findOnce(`${registry.host}/app`)).toMatchObject({
      failure: "untrusted",
      reason: expect.stringContaining("its certificate has expired; renew it"),
    });
  });

  test.each<[string, Behaviour]>([
    ["it accepts connections and says nothing", () => new Promise(() => {})],
    ["it never ends its answer", beginning],
    ["it never ends the config", at("/blobs/", beginning)],
  ])("%s", async (_, behave) => {
    await using registry = startStandIn(content, behave);
    expect(await findOnce(`${registry.host}/app`, { limitMs: 200 })).toMatchObject({
      failure: "timeout",
      reason: expect.stringContaining("did not answer within 200ms"),
    });
  });

  test("it does not even speak TLS", async () => {
    const server = createServer(() => {}); // accepts, and says nothing
    const port = await listen(server);
    const lookup = await findOnce(`registry.example.com/app`, {
      limitMs: 200,
      mirrors: [`registry.example.com=localhost:${port}`],
      registries: [],
    });
    expect(lookup).toMatchObject({ failure: "timeout" });
    server.close();
  });
});

describe("a registry that may not be asked", () => {
  test.each<[string, readonly string[]]>([
    ["none may", []],
    ["others may", ["quay.io"]],
  ])("%s", async (_, registries) => {
    await using registry = startStandIn(content);
    using asking = createAsking({ registries });
    const query = { image: `${registry.host}/app`, architectures: ["amd64"] as const };
    expect(asking.images.remembered(query, [])).toMatchObject({
      failure: "not-allowed",
      reason: expect.stringContaining(registry.host),
    });
    expect(registry.got).toEqual([]);
  });

  test("a name that is none is answered at once", () => {
    using asking = createAsking();
    const query = { image: "https://nginx", architectures: ["amd64"] as const };
    expect(asking.images.remembered(query, [])).toMatchObject({ failure: "invalid" });
  });
});
