import { describe, expect, test } from "bun:test";
import type { ImageQuery } from "../../../../src/cluster/image/core/lookup.ts";
import { unknown } from "../../../../src/cluster/image/core/platform.ts";
import { inParallel } from "../../../harness/ebb.ts";
import { createAsking, find, findOnce } from "./asking.ts";
import { type Behaviour, Content, refusal, startStandIn } from "./stand-in-registry.ts";

const MINUTE = 60_000;

function contentOf(...words: readonly string[]): Content {
  const content = new Content();
  for (const word of words) content.add(`${word}:latest`, { config: { Entrypoint: [`/${word}`] } });
  return content;
}

const queryOf = (image: string): ImageQuery => ({ image, architectures: ["amd64", "arm64"] });
const starting = (word: string) => ({ kind: "found", command: { entrypoint: [word] } });

/** A registry whose behaviour changes. */
function changing(content: Content) {
  const now: { behave: Behaviour } = { behave: () => undefined };
  return Object.assign(
    startStandIn(content, (got, itself) => now.behave(got, itself)),
    { is: (behave: Behaviour) => Object.assign(now, { behave }) },
  );
}

const silent: Behaviour = () => new Promise(() => {});
const well: Behaviour = () => undefined;

describe("an image is asked for", () => {
  test("once, by however many at the same time", async () => {
    await using registry = startStandIn(contentOf("app"));
    using asking = createAsking();
    const image = `${registry.host}/app`;
    expect(asking.images.remembered(queryOf(image), [])).toBeUndefined();
    await Promise.all(Array.from({ length: 50 }, () => find(asking, image)));
    expect(registry.take()).toHaveLength(2);
    expect(asking.images.remembered(queryOf(image), [])).toMatchObject(starting("/app"));
  });

  test("by digest once for ever, also if it was known by its tag", async () => {
    const content = contentOf("app");
    const digest = content.add("app:latest", { config: { Entrypoint: ["/app"] } });
    await using registry = startStandIn(content);
    using asking = createAsking();
    await find(asking, `${registry.host}/app`);
    asking.move(1e9);
    expect(asking.images.remembered(queryOf(`${registry.host}/app@${digest}`), [])).toMatchObject(starting("/app"));
  });

  test("by tag again after five minutes, by a HEAD alone if it has not moved", async () => {
    await using registry = startStandIn(contentOf("app"));
    using asking = createAsking();
    const image = `${registry.host}/app`;
    await find(asking, image);
    registry.take();
    asking.move(5 * MINUTE);
    expect(asking.images.remembered(queryOf(image), [])).toBeUndefined();
    expect(await find(asking, image)).toMatchObject(starting("/app"));
    expect(registry.take()).toEqual(["HEAD /v2/app/manifests/latest"]);
    expect(asking.images.remembered(queryOf(image), [])).toMatchObject(starting("/app"));
  });

  test.each<[string, Behaviour]>([
    [
      "does not know HEAD",
      ({ request }) => (request.method === "HEAD" ? new Response(null, { status: 405 }) : undefined),
    ],
    ["names no digest", ({ request }) => (request.method === "HEAD" ? new Response(null) : undefined)],
  ])("by GET if the registry %s", async (_, behave) => {
    await using registry = startStandIn(contentOf("app"), behave);
    using asking = createAsking();
    const image = `${registry.host}/app`;
    await find(asking, image);
    asking.move(5 * MINUTE);
    expect(await find(asking, image)).toMatchObject(starting("/app"));
  });

  test("anew if its tag has moved", async () => {
    const content = contentOf("app");
    await using registry = startStandIn(content);
    using asking = createAsking();
    const image = `${registry.host}/app`;
    const first = await find(asking, image);
    content.add("app:latest", { config: { Entrypoint: ["/new"] } });
    expect(asking.images.remembered(queryOf(image), [])).toEqual(first);
    asking.move(5 * MINUTE);
    expect(await find(asking, image)).toMatchObject(starting("/new"));
    content.add("app:latest", { config: { Entrypoint: ["/app"] } });
    registry.take();
    asking.move(5 * MINUTE);
    expect(await find(asking, image)).toEqual(first); // known by its digest
    expect(registry.take()).toHaveLength(1);
  });

  test.each<[string, Behaviour, number]>([
    ["again 30 s after it was not there", () => refusal(404, "MANIFEST_UNKNOWN", "no"), 30_000],
    ["again when a 429 says so", () => refusal(429, "TOOMANYREQUESTS", "no", { "retry-after": "90" }), 90_000],
    [
      "again after five minutes if a 429 says more",
      () => refusal(429, "TOO", "no", { "retry-after": "9999" }),
      5 * MINUTE,
    ],
    [
      "again 30 s after a 429 with a date",
      () => refusal(429, "TOO", "no", { "retry-after": "Wed, 21 Oct 2099 07:28:00 GMT" }),
      30_000,
    ],
  ])("%s", async (_, behave, ms) => {
    await using registry = changing(contentOf("app"));
    using asking = createAsking();
    const image = `${registry.host}/app`;
    registry.is(behave);
    const failure = await find(asking, image);
    expect(failure.kind).toBe("unknown");
    registry.is(well);
    asking.move(ms - 1);
    expect(asking.images.remembered(queryOf(image), [])).toEqual(failure);
    asking.move(1);
    expect(await find(asking, image)).toMatchObject(starting("/app"));
  });
});

describe("while a registry is away", () => {
  test("what was known serves for up to a day, and is asked for once in 30 s", async () => {
    await using registry = changing(contentOf("app"));
    using asking = createAsking({ limitMs: 1000 });
    const image = `${registry.host}/app`;
    await find(asking, image);
    registry.is(silent);
    registry.take();
    for (const ms of [5 * MINUTE, 30_000, 23 * 60 * MINUTE]) {
      asking.move(ms);
      expect(asking.images.remembered(queryOf(image), [])).toBeUndefined();
      expect(await find(asking, image)).toMatchObject(starting("/app"));
      expect(asking.images.remembered(queryOf(image), [])).toMatchObject(starting("/app"));
      expect(registry.take()).toEqual(["HEAD /v2/app/manifests/latest"]);
    }
    asking.move(60 * MINUTE);
    expect(await find(asking, image)).toMatchObject({ failure: "timeout" });
  });

  test("a pod of an unknown image waits its limit once; each other image is asked for itself", async () => {
    await using registry = changing(contentOf("app", "other"));
    using asking = createAsking({ limitMs: 1000 });
    registry.is((got, itself) => (got.line.includes("/app/") ? silent : well)(got, itself));
    const start = performance.now();
    const failure = await find(asking, `${registry.host}/app`);
    expect(failure).toMatchObject({
      failure: "timeout",
      reason: `${registry.host} did not answer within 1s: check the name and the network, or name a mirror that answers (--registry-mirror)`,
    });
    expect(performance.now() - start).toBeLessThan(5000);
    expect(asking.images.remembered(queryOf(`${registry.host}/app`), [])).toEqual(failure);
    expect(await find(asking, `${registry.host}/other`)).toMatchObject(starting("/other"));
    registry.is(well);
    asking.move(30_000);
    expect(await find(asking, `${registry.host}/app`)).toMatchObject(starting("/app"));
  });

  test("that it did not answer within less than half a second is not remembered", async () => {
    await using registry = changing(contentOf("app"));
    using asking = createAsking();
    const query = queryOf(`${registry.host}/app`);
    registry.is(silent);
    expect(await asking.images.find(query, [], 50)).toMatchObject({ failure: "timeout" });
    registry.is(well);
    expect(await find(asking, query.image)).toMatchObject(starting("/app"));
  });

  test("at most 100 pods wait for it, and each frees its place when its time is up", async () => {
    await using registry = changing(contentOf("app", "known"));
    await using other = startStandIn(contentOf("app"));
    using asking = createAsking({ limitMs: 3000 });
    await find(asking, `${registry.host}/known`);
    asking.move(5 * MINUTE);
    registry.is(silent);
    const names = Array.from({ length: 100 }, (_, at) => `${registry.host}/app-${at % 90}`);
    const waiting = names.map((name) => find(asking, name));
    const refused = { failure: "timeout", reason: expect.stringContaining(`100 look-ups wait for ${registry.host}`) };
    expect(await find(asking, `${registry.host}/app`)).toMatchObject(refused);
    expect(await find(asking, `${registry.host.toUpperCase()}/app`)).toMatchObject(refused);
    expect(await find(asking, `${registry.host}/known`)).toMatchObject(starting("/known"));
    expect(await find(asking, `${other.host}/app`)).toMatchObject(starting("/app"));
    const reasons = (await Promise.all(waiting)).map((lookup) => ("reason" in lookup ? lookup.reason : ""));
    expect(reasons.filter((reason) => !reason.includes("did not answer within 3s"))).toEqual([]);
    registry.is(well);
    expect(await find(asking, `${registry.host}/app`)).toMatchObject(starting("/app"));
  });

  test("an image that fails is no reason to doubt the others of its registry", async () => {
    await using registry = changing(contentOf("app", "other"));
    using asking = createAsking();
    registry.is(({ line }) => (line.includes("/app/") ? new Response("", { status: 503 }) : undefined));
    expect(await find(asking, `${registry.host}/app`)).toMatchObject({
      failure: "unreachable",
      reason: `${registry.host} fails (503): try again later, or name a mirror with --registry-mirror`,
    });
    expect(await find(asking, `${registry.host}/other`)).toMatchObject(starting("/other"));
  });
});

describe("what was known before a failure", () => {
  test.each<[string, Behaviour, boolean]>([
    ["serves if there were too many requests", () => refusal(429, "TOOMANYREQUESTS", "no"), true],
    ["serves if the registry is broken", () => new Response("", { status: 503 }), true],
    ["does not serve if the registry says that it is gone", () => refusal(404, "MANIFEST_UNKNOWN", "no"), false],
    ["does not serve if who asks may no longer have it", () => refusal(403, "DENIED", "no"), false],
  ])("%s", async (_, behave, serves) => {
    await using registry = changing(contentOf("app"));
    using asking = createAsking();
    const image = `${registry.host}/app`;
    const known = await find(asking, image);
    registry.is(behave);
    asking.move(60 * MINUTE);
    const later = await find(asking, image);
    if (serves) expect(later).toEqual(known);
    else expect(later.kind).toBe("unknown");
    expect(asking.images.remembered(queryOf(image), [])).toEqual(later);
  });

  test("serves if the registry cannot be asked now; else why not", async () => {
    await using registry = startStandIn(contentOf("app"));
    using asking = createAsking();
    const known = await find(asking, `${registry.host}/app`);
    asking.move(60 * MINUTE);
    const busy = unknown("timeout", "busy");
    expect(asking.images.remembered(queryOf(`${registry.host}/app`), [], busy)).toEqual(known);
    expect(asking.images.remembered(queryOf(`${registry.host}/other`), [], busy)).toEqual(busy);
  });
});

describe("what is remembered is bounded", () => {
  test("by its words: the image that was not asked for longest is forgotten", async () => {
    const content = new Content();
    const names = Array.from({ length: 30 }, (_, at) => `app-${at}`);
    for (const name of names) content.add(`${name}:latest`, { config: { Entrypoint: Array(5000).fill("ab") } });
    await using registry = startStandIn(content);
    using asking = createAsking();
    const isKnown = (name: string) =>
      asking.images.remembered(queryOf(`${registry.host}/${name}`), [])?.kind === "found";
    for (const name of names) {
      expect(await find(asking, `${registry.host}/${name}`)).toMatchObject({ kind: "found" });
      expect(isKnown("app-0")).toBe(true); // and so asked for
    }
    const known = names.filter(isKnown);
    expect([known.length > 15, known[0], known.includes("app-1"), known.at(-1)]).toEqual([
      true,
      "app-0",
      false,
      "app-29",
    ]);
    registry.take();
    asking.move(5 * MINUTE);
    await find(asking, `${registry.host}/app-0`);
    expect(registry.take()).toEqual(["HEAD /v2/app-0/manifests/latest"]);
  });

  test("to a thousand failures", async () => {
    using asking = createAsking({ registries: ["127.0.0.1:1"], caFile: undefined });
    const names = Array.from({ length: 1100 }, (_, at) => `127.0.0.1:1/app-${at}`);
    await inParallel(names, (name) => find(asking, name), 50);
    const failed = names.filter((name) => asking.images.remembered(queryOf(name), []) !== undefined);
    expect([failed.length, failed.at(-1)]).toEqual([1000, names.at(-1)]);
  });
});

describe("mirrors", () => {
  test.each<[string, Behaviour]>([
    ["that lacks it", () => refusal(404, "NAME_UNKNOWN", "no")],
    ["that refuses", () => refusal(403, "DENIED", "no")],
    ["that is broken", () => new Response("<html>")],
    ["that is silent", silent],
  ])("after one %s the next is asked, then the registry", async (_, behave) => {
    await using broken = startStandIn(contentOf(), behave);
    await using second = startStandIn(contentOf("hub/library/app"));
    await using registry = startStandIn(contentOf("app"));
    using asking = createAsking({
      mirrors: [`docker.io=${broken.host}`, `docker.io=${second.host}/hub`, `${registry.host}=${broken.host}`],
      limitMs: 3000,
    });
    expect(await find(asking, "app")).toMatchObject(starting("/hub/library/app"));
    expect(await find(asking, `${registry.host}/app`)).toMatchObject(starting("/app"));
  });

  test("all that were asked are named if none answers", async () => {
    await using first = startStandIn(contentOf(), () => refusal(403, "DENIED", "no"));
    await using second = startStandIn(contentOf());
    using asking = createAsking({ mirrors: [`docker.io=${first.host}`, `docker.io=${second.host}`], registries: [] });
    const { reason = "" } = (await find(asking, "app")) as { readonly reason?: string };
    expect(reason).toContain(`${first.host}, the mirror of docker.io, refuses library/app (403): give`);
    expect(reason).toContain(`${second.host}, the mirror of docker.io, has no library/app:latest (404)`);
  });

  test("what to do is said once if none can be reached", async () => {
    const gone = ["127.0.0.1:1", "127.0.0.1:2"];
    const [first, second] = gone.map((host) => `${host} cannot be reached: connection refused`);
    expect(await findOnce("app", { mirrors: gone.map((host) => `docker.io=${host}`), registries: [] })).toMatchObject({
      reason: `${first}. ${second}; check the name and the network, or name a mirror that answers (--registry-mirror)`,
    });
  });

  test("one without TLS is asked if it is named so; if not, the remedy names it so", async () => {
    const content = contentOf("library/app");
    const plain = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: (request) => {
        const [, , , , , name = ""] = new URL(request.url).pathname.split("/");
        return new Response(content.manifests.get(`library/app/${name}`) ?? content.blobs.get(`library/app/${name}`));
      },
    });
    const [host, how] = [`localhost:${plain.port}`, { registries: [] }];
    const reason = `${host} cannot be reached: the TLS handshake failed: the server does not speak TLS, or requires a client certificate; if it has no TLS, set --registry-mirror docker.io=http://${host}`;
    expect(await findOnce("app", { ...how, mirrors: [`docker.io=${host}`] })).toMatchObject({ reason });
    using asking = createAsking({ ...how, mirrors: [`docker.io=http://${host}`] });
    expect(await find(asking, "app")).toMatchObject(starting("/library/app"));
    await plain.stop(true);
  });
});

test("a registry of this machine's may be one without TLS", async () => {
  const content = contentOf("app");
  const plain = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const [, , , , name = ""] = new URL(request.url).pathname.split("/");
      const text = content.manifests.get(`app/${name}`) ?? content.blobs.get(`app/${name}`);
      return new Response(text, { status: text === undefined ? 404 : 200 });
    },
  });
  using asking = createAsking();
  expect(await find(asking, `localhost:${plain.port}/app`)).toMatchObject(starting("/app"));
  expect(await find(asking, `localhost:${plain.port}/app:nosuch`)).toMatchObject({
    reason: expect.stringMatching(new RegExp(`^localhost:${plain.port} has no app:nosuch \\(404\\)`)), // no word of TLS
  });
  await plain.stop(true);
});
