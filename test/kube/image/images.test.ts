import { describe, expect, test } from "bun:test";
import type { ImageQuery } from "../../../src/core/image/lookup.ts";
import { until } from "../../harness.ts";
import { createAsking, find, findOnce, WAIT_MS } from "./asking.ts";
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
    expect(asking.images.known(queryOf(image), [])).toBeUndefined();
    await Promise.all(Array.from({ length: 50 }, () => find(asking, image)));
    expect(registry.take()).toHaveLength(2);
    expect(asking.images.known(queryOf(image), [])).toMatchObject(starting("/app"));
  });

  test("at most eight at the same time, and all in the end", async () => {
    const names = Array.from({ length: 40 }, (_, n) => `app-${n}`);
    let atOnce = 0;
    let most = 0;
    await using registry = startStandIn(contentOf(...names), async () => {
      most = Math.max(most, ++atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce -= 1;
      return undefined as unknown as Response;
    });
    using asking = createAsking();
    const lookups = await Promise.all(names.map((name) => find(asking, `${registry.host}/${name}`)));
    expect(lookups.every(({ kind }) => kind === "found")).toBe(true);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  });

  test("by digest once for ever, also if it was known by its tag", async () => {
    const content = contentOf("app");
    const digest = content.add("app:latest", { config: { Entrypoint: ["/app"] } });
    await using registry = startStandIn(content);
    using asking = createAsking();
    await find(asking, `${registry.host}/app`);
    asking.clock.move(1e9);
    expect(asking.images.known(queryOf(`${registry.host}/app@${digest}`), [])).toMatchObject(starting("/app"));
  });

  test("by tag again after five minutes, by a HEAD alone if it has not moved", async () => {
    await using registry = startStandIn(contentOf("app"));
    using asking = createAsking();
    const image = `${registry.host}/app`;
    await find(asking, image);
    registry.take();
    asking.clock.move(5 * MINUTE);
    expect(asking.images.known(queryOf(image), [])).toBeUndefined();
    expect(await find(asking, image)).toMatchObject(starting("/app"));
    expect(registry.take()).toEqual(["HEAD /v2/app/manifests/latest"]);
    expect(asking.images.known(queryOf(image), [])).toMatchObject(starting("/app"));
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
    asking.clock.move(5 * MINUTE);
    expect(await find(asking, image)).toMatchObject(starting("/app"));
  });

  test("anew if its tag has moved", async () => {
    const content = contentOf("app");
    await using registry = startStandIn(content);
    using asking = createAsking();
    const image = `${registry.host}/app`;
    const first = await find(asking, image);
    content.add("app:latest", { config: { Entrypoint: ["/new"] } });
    expect(asking.images.known(queryOf(image), [])).toEqual(first);
    asking.clock.move(5 * MINUTE);
    expect(await find(asking, image)).toMatchObject(starting("/new"));
    content.add("app:latest", { config: { Entrypoint: ["/app"] } });
    registry.take();
    asking.clock.move(5 * MINUTE);
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
    asking.clock.move(ms - 1);
    expect(asking.images.known(queryOf(image), [])).toEqual(failure);
    asking.clock.move(1);
    expect(await find(asking, image)).toMatchObject(starting("/app"));
  });
});

describe("while a registry is away", () => {
  test("what was known serves for up to a day, and nobody waits for it", async () => {
    await using registry = changing(contentOf("app"));
    using asking = createAsking({ requestMs: 100 });
    const image = `${registry.host}/app`;
    await find(asking, image);
    registry.is(silent);
    asking.clock.move(5 * MINUTE);
    expect(await find(asking, image)).toMatchObject(starting("/app"));
    asking.clock.move(10 * MINUTE);
    expect(asking.images.known(queryOf(image), [])).toMatchObject(starting("/app"));
    asking.clock.move(24 * 60 * MINUTE);
    expect(asking.images.known(queryOf(image), [])).toMatchObject({ failure: "timeout" });
  });

  test("one pod waits, and for no longer than it may; the next ones of any image are answered at once", async () => {
    await using registry = changing(contentOf("app", "other"));
    using asking = createAsking();
    registry.is(silent);
    const start = performance.now();
    expect(await asking.images.find(queryOf(`${registry.host}/app`), [], 100)).toMatchObject({
      failure: "timeout",
      reason: expect.stringContaining("did not answer within 100ms"),
    });
    expect(performance.now() - start).toBeLessThan(5000);
    for (const name of ["app", "other"])
      expect(asking.images.known(queryOf(`${registry.host}/${name}`), [])).toMatchObject({ failure: "timeout" });
  });

  test("at a desk the limit of a look-up is its own: those before it do not count", async () => {
    const endless = () => new Response(new ReadableStream({ start: (it) => it.enqueue(Buffer.from("{")) }));
    await using registry = startStandIn(contentOf("app"), ({ line }) =>
      line.includes("slow") ? endless() : undefined,
    );
    using asking = createAsking({ isAtDesk: true, lookupMs: 1000 });
    const names = [...Array.from({ length: 8 }, (_, n) => `slow-${n}`), "app"];
    const found = names.map((name) => asking.images.find(queryOf(`${registry.host}/${name}`), []));
    expect(await found[0]).toMatchObject({ failure: "timeout" });
    expect(await found.at(-1)).toMatchObject(starting("/app"));
  });

  test.each([
    ["the webhook", false, "200 images are being looked up"],
    ["ebb inject, which looks up all of a manifest's,", true, "was not asked within 500ms, because others were slow"],
  ])("at most 200 images are looked up for %s", async (_, isAtDesk, words) => {
    await using registry = changing(contentOf("app"));
    using asking = createAsking({ isAtDesk });
    registry.is(silent);
    const names = Array.from({ length: 201 }, (_, at) => `${registry.host}/app-${at}`);
    const found = await Promise.all(names.map((name) => asking.images.find(queryOf(name), [], 500)));
    expect(found[0]).toMatchObject({ failure: "timeout", reason: expect.stringContaining("did not answer") });
    expect(found.at(-2)).toMatchObject({ failure: "timeout", reason: expect.stringContaining("was not asked") });
    expect(found.at(-1)).toMatchObject({ failure: "timeout", reason: expect.stringContaining(words) });
  });

  test("it is found back in the background", async () => {
    await using registry = changing(contentOf("app", "other"));
    using asking = createAsking({ requestMs: 100 });
    const [app, other] = [`${registry.host}/app`, `${registry.host}/other`];
    registry.is(silent);
    await find(asking, app);
    registry.take();
    for (let n = 0; n < 3; n += 1) {
      asking.clock.move(30_000);
      await until("it is asked again", () => registry.take().length > 0);
      await until("that fails", () => asking.clock.isWaiting());
      expect(asking.images.known(queryOf(other), [])).toMatchObject({ failure: "timeout" });
    }
    registry.is(well);
    asking.clock.move(30_000);
    await until("it is back", () => asking.images.known(queryOf(app), [])?.kind === "found");
    expect(asking.images.known(queryOf(other), [])).toBeUndefined();
    expect(await find(asking, other)).toMatchObject(starting("/other"));
  });

  test("a late answer counts for the next one who asks", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using registry = changing(contentOf("app"));
    using asking = createAsking();
    registry.is(() => promise as Promise<never>);
    const query = queryOf(`${registry.host}/app`);
    expect(await asking.images.find(query, [], 50)).toMatchObject({ failure: "timeout" });
    resolve();
    await until("it is known", () => asking.images.known(query, [])?.kind === "found");
  });

  test("an image that fails is no reason to doubt the others of its registry", async () => {
    await using registry = changing(contentOf("app", "other"));
    using asking = createAsking();
    registry.is(({ line }) => (line.includes("/app/") ? new Response("", { status: 503 }) : undefined));
    expect(await find(asking, `${registry.host}/app`)).toMatchObject({
      failure: "unreachable",
      reason: `${registry.host} fails (503): try again later, or name a mirror by --registry-mirror`,
    });
    expect(await find(asking, `${registry.host}/other`)).toMatchObject(starting("/other"));
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
      requestMs: 200,
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
    const [first, second] = gone.map((host) => `${host} cannot be reached: nobody listens there`);
    expect(await findOnce("app", { mirrors: gone.map((host) => `docker.io=${host}`), registries: [] })).toMatchObject({
      reason: `${first}. ${second}; check the name and the network, or name a mirror that answers (--registry-mirror)`,
    });
  });

  test("one that does not answer is asked by nobody until it is back", async () => {
    await using mirror = startStandIn(contentOf(), silent);
    await using registry = startStandIn(contentOf("app", "other"));
    using asking = createAsking({ mirrors: [`${registry.host}=${mirror.host}`], requestMs: 100 });
    await find(asking, `${registry.host}/app`);
    expect(mirror.take()).toHaveLength(1);
    expect(await find(asking, `${registry.host}/other`)).toMatchObject(starting("/other"));
    expect(mirror.take()).toEqual([]);
    asking.clock.move(30_000);
    await until("it is asked again", () => mirror.take().length > 0);
  });

  test("one is asked again also while the look-up that found it silent goes on", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    await using mirror = startStandIn(contentOf(), silent);
    await using registry = startStandIn(contentOf("app"), () => promise as Promise<never>);
    using asking = createAsking({ mirrors: [`${registry.host}=${mirror.host}`], requestMs: 1000 });
    const lookup = find(asking, `${registry.host}/app`);
    await until("the registry is asked in its place", () => registry.got.length > 0);
    mirror.take();
    asking.clock.move(30_000);
    await until("the mirror is asked again", () => mirror.take().length > 0);
    resolve();
    expect(await lookup).toMatchObject(starting("/app"));
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
    const reason = `${host} cannot be reached: it does not speak TLS; if it has no TLS: --registry-mirror docker.io=http://${host}`;
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
  expect(await asking.images.find(queryOf(`localhost:${plain.port}/app`), [], WAIT_MS)).toMatchObject(starting("/app"));
  expect(await find(asking, `localhost:${plain.port}/app:nosuch`)).toMatchObject({
    reason: expect.stringMatching(new RegExp(`^localhost:${plain.port} has no app:nosuch \\(404\\)`)), // no word of TLS
  });
  await plain.stop(true);
});

test("what is known costs a webhook nearly nothing", async () => {
  await using registry = startStandIn(contentOf("app"));
  using asking = createAsking();
  const query = queryOf(`${registry.host}/app`);
  await find(asking, query.image);
  const start = performance.now();
  for (let n = 0; n < 10_000; n += 1) asking.images.known(query, []);
  expect(performance.now() - start).toBeLessThan(1000);
});
