import { describe, expect, test } from "bun:test";
import { authOf, createAsking, find, findOnce } from "./asking.ts";
import {
  type Behaviour,
  Content,
  refusal,
  type StandInRegistry,
  startStandIn,
  wantsToken,
} from "./stand-in-registry.ts";

const content = new Content();
content.add("team/app:latest", { config: { Entrypoint: ["/app"] } });

const basic = (user: string, password: string) => `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

/** A registry that wants a token, and is its own token server; `known` says which Authorization gets one. */
function tokens(known: (authorization: string | undefined, line: string) => boolean, rest = ""): Behaviour {
  return ({ line, authorization }, { host }) => {
    if (line.includes(" /token"))
      return known(authorization, line)
        ? Response.json({ token: "t0ken" })
        : refusal(401, "UNAUTHORIZED", "bad password");
    return authorization === "Bearer t0ken" ? undefined : wantsToken(`https://${host}/token`, rest);
  };
}

const wantsPassword = () =>
  new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="stand-in"' } });

/** A registry that wants a password. */
const passwords =
  (...good: readonly string[]): Behaviour =>
  ({ authorization = "" }) =>
    good.includes(authorization) ? undefined : wantsPassword();

const linesOf = ({ got }: StandInRegistry) => got.map(({ line, authorization }) => `${line} ${authorization ?? "-"}`);

describe("who asks is told", () => {
  test("by a token for nobody", async () => {
    await using registry = startStandIn(
      content,
      tokens((authorization) => authorization === undefined),
    );
    expect(await findOnce(`${registry.host}/team/app`)).toMatchObject({ kind: "found" });
    expect(linesOf(registry).slice(0, 3)).toEqual([
      "GET /v2/team/app/manifests/latest -",
      "GET /token?service=stand-in&scope=repository%3Ateam%2Fapp%3Apull&client_id=ebb -", // Harbor names no scope
      "GET /v2/team/app/manifests/latest Bearer t0ken",
    ]);
  });

  test("by a token for the scopes that the registry names", async () => {
    const scope = ',scope="repository:team/app:pull repository:other:pull"';
    await using registry = startStandIn(
      content,
      tokens(() => true, scope),
    );
    expect(await findOnce(`${registry.host}/team/app`)).toMatchObject({ kind: "found" });
    const query = "scope=repository%3Ateam%2Fapp%3Apull&scope=repository%3Aother%3Apull";
    expect(registry.take()[1]).toBe(`GET /token?service=stand-in&${query}&client_id=ebb`);
  });

  test("by a token for a name and a password", async () => {
    await using registry = startStandIn(
      content,
      tokens((given) => given === basic("me", "pä:ss")),
    );
    const auths = [authOf(registry.host, "me", "pä:ss")];
    expect(await findOnce(`${registry.host}/team/app`, {}, auths)).toMatchObject({ kind: "found" });
  });

  test("by a token for a refresh token, which is not in the URL", async () => {
    const forms: string[] = [];
    await using registry = startStandIn(content, async (got, { host }) => {
      if (got.line !== "POST /token") return tokens(() => false)(got, registry) as Response;
      forms.push(await got.request.text());
      return Response.json({ access_token: "t0ken", host });
    });
    const auths = [authOf(registry.host, "", "", "refresh me")];
    expect(await findOnce(`${registry.host}/team/app`, {}, auths)).toMatchObject({ kind: "found" });
    expect(Object.fromEntries(new URLSearchParams(forms[0]))).toEqual({
      grant_type: "refresh_token",
      service: "stand-in",
      client_id: "ebb",
      scope: "repository:team/app:pull",
      refresh_token: "refresh me",
    });
  });

  test("by name and password themselves, to none who does not ask", async () => {
    await using registry = startStandIn(content, passwords(basic("me", "pw")));
    const auths = [authOf(registry.host, "me", "pw")];
    expect(await findOnce(`${registry.host}/team/app`, {}, auths)).toMatchObject({ kind: "found" });
    expect(linesOf(registry)[0]).toBe("GET /v2/team/app/manifests/latest -");
  });

  test.each([
    ["a password", passwords(basic("me", "right"))],
    ["a token", tokens((given) => given === basic("me", "right"))],
  ])("by one credential after the other, as the kubelet does: %s", async (_, behave) => {
    await using registry = startStandIn(content, behave);
    const auths = ["wrong", "right", "never tried"].map((password) => authOf(registry.host, "me", password));
    expect(await findOnce(`${registry.host}/team/app`, {}, auths)).toMatchObject({ kind: "found" });
    expect(JSON.stringify(linesOf(registry))).not.toContain(basic("me", "never tried"));
  });

  test.each<[string, Behaviour, string]>([
    ["a wrong password", passwords(), "refuses team/app with the credentials that were sent (401)"],
    ["a wrong password for a token", tokens(() => false), "refuses a token with the credentials that were sent (401)"],
    ["a wrong password, which the registry explains", tokens(() => false), "bad password"],
    ["a token without a right", tokens(() => true), "refuses team/app with the credentials that were sent (401)"],
  ])("in vain: %s", async (name, behave, words) => {
    const isRight = name.startsWith("a token");
    await using registry = startStandIn(content, (got, itself) =>
      isRight && got.authorization === "Bearer t0ken"
        ? wantsToken(`https://${itself.host}/token`)
        : behave(got, itself),
    );
    const lookup = await findOnce(`${registry.host}/team/app`, {}, [authOf(registry.host, "me", "s3cret")]);
    expect(lookup).toMatchObject({ failure: "unauthorized", reason: expect.stringContaining(words) });
    expect(JSON.stringify(lookup)).not.toContain("s3cret");
    expect(registry.got.length).toBeLessThan(5);
  });

  test("in vain: a refresh token, where a password is wanted, is not sent", async () => {
    await using registry = startStandIn(content, passwords());
    const auths = [authOf(registry.host, "", "", "refresh me")];
    expect(await findOnce(`${registry.host}/team/app`, {}, auths)).toMatchObject({
      reason: expect.stringContaining("refuses team/app without credentials (401)"),
    });
  });

  test.each([
    ["no token", () => Response.json({})],
    ["no JSON", () => new Response("<html>")],
    ["a token with a line break", () => Response.json({ token: "a\nX-Evil: b" })],
    [
      "an answer without an end",
      () => new Response(new ReadableStream({ pull: (it) => it.enqueue(new Uint8Array(65536).fill(32)) })),
    ],
  ])("in vain: the token server sends %s", async (_, answer) => {
    await using registry = startStandIn(content, (got, itself) =>
      got.line.includes(" /token") ? answer() : tokens(() => true)(got, itself),
    );
    expect(await findOnce(`${registry.host}/team/app`)).toMatchObject({ failure: "invalid" });
  });
});

describe("what was sent and is repeated is hidden", () => {
  const secrets = { password: "pä:ss s3cret", token: `${"t0ken".repeat(100)}`, refresh: "refresh/me ".repeat(50) };
  const encoded = basic("me", secrets.password).slice("Basic ".length);
  const all = [secrets.password, encoded, secrets.token, secrets.refresh, encodeURIComponent(secrets.refresh)];
  const repeat = (text: string, status = 403) => refusal(status, "DENIED", `you sent ${text}`);
  const isAsked = (line: string) => line.includes(" /token");

  test.each<[string, Behaviour, string]>([
    ["a header", ({ authorization = "" }) => (authorization ? repeat(authorization) : wantsPassword()), "Basic ***"],
    [
      "a name and a password, decoded",
      ({ authorization }) => (authorization ? repeat(`me:${secrets.password}`) : wantsPassword()),
      "you sent ***",
    ],
    [
      "a password",
      ({ authorization }) => (authorization ? repeat(`me and ${secrets.password}`) : wantsPassword()),
      "me and ***",
    ],
    [
      "a token",
      ({ line, authorization }, { host }) => {
        if (isAsked(line)) return Response.json({ token: secrets.token });
        return authorization ? repeat(authorization) : wantsToken(`https://${host}/token`);
      },
      "Bearer ***",
    ],
    [
      "a password, by the token server",
      ({ line, authorization = "" }, { host }) =>
        isAsked(line) ? repeat(`${authorization} ${secrets.password}`, 401) : wantsToken(`https://${host}/token`),
      "Basic *** ***",
    ],
    [
      "a password in a redirect",
      ({ authorization }) =>
        authorization
          ? new Response(null, { status: 307, headers: { location: `http://127.0.0.1/${encoded}` } })
          : wantsPassword(),
      "http://127.0.0.1/***",
    ],
    [
      "a password as the type of a config",
      ({ authorization }) =>
        authorization
          ? Response.json({ config: { mediaType: secrets.password, digest: `sha256:${"0".repeat(64)}` } })
          : wantsPassword(),
      "its config is ***",
    ],
  ])("as %s", async (_, behave, shown) => {
    await using registry = startStandIn(content, behave);
    const auths = [authOf(registry.host, "me", secrets.password)];
    const lookup = await findOnce(`${registry.host}/team/app`, {}, auths);
    expect(lookup).toMatchObject({ kind: "unknown", reason: expect.stringContaining(shown) });
    for (const secret of all) expect(JSON.stringify(lookup)).not.toContain(secret.slice(0, 5));
  });

  test.each([secrets.refresh, encodeURIComponent(secrets.refresh)])("as a refresh token: %s", async (text) => {
    await using registry = startStandIn(content, ({ line }, { host }) =>
      isAsked(line) ? repeat(text, 401) : wantsToken(`https://${host}/token`),
    );
    const lookup = await findOnce(`${registry.host}/team/app`, {}, [authOf(registry.host, "", "", secrets.refresh)]);
    expect(lookup).toMatchObject({ reason: expect.stringContaining("you sent ***") });
    expect(JSON.stringify(lookup)).not.toContain("refresh");
  });
});

describe("credentials go", () => {
  test("to no host to which the registry redirects", async () => {
    await using storage = startStandIn(content);
    await using registry = startStandIn(content, (got, itself) =>
      got.authorization !== undefined && got.line.includes("/blobs/")
        ? new Response(null, {
            status: 307,
            headers: { location: `https://${storage.host}${got.line.slice(4)}?signed` },
          })
        : passwords(basic("me", "pw"))(got, itself),
    );
    const auths = [authOf(registry.host, "me", "pw"), authOf(storage.host, "me", "pw")];
    expect(await findOnce(`${registry.host}/team/app`, {}, auths)).toMatchObject({ kind: "found" });
    expect(storage.got.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  test("to no host to which it redirects twice, not even back to itself", async () => {
    await using other = startStandIn(
      content,
      ({ line }) =>
        new Response(null, { status: 302, headers: { location: `https://${registry.host}${line.slice(4)}?back` } }),
    );
    await using registry = startStandIn(content, (got, itself) => {
      if (got.line.endsWith("?back")) return undefined;
      if (!got.line.includes("/blobs/")) return passwords(basic("me", "pw"))(got, itself);
      return new Response(null, { status: 302, headers: { location: `https://${other.host}${got.line.slice(4)}` } });
    });
    expect(await findOnce(`${registry.host}/team/app`, {}, [authOf(registry.host, "me", "pw")])).toMatchObject({
      kind: "found",
    });
    expect(linesOf(registry).at(-1)).toEndWith("?back -");
  });

  test("to no host that asks for them after a redirect", async () => {
    await using thief = startStandIn(
      content,
      tokens(() => true),
    );
    await using registry = startStandIn(
      content,
      ({ line }) => new Response(null, { status: 307, headers: { location: `https://${thief.host}${line.slice(4)}` } }),
    );
    const auths = [authOf(registry.host, "me", "pw"), authOf(registry.host, "", "", "refresh me")];
    expect(await findOnce(`${registry.host}/team/app`, {}, auths)).toMatchObject({ failure: "unauthorized" });
    expect(linesOf(thief)).toEqual(["GET /v2/team/app/manifests/latest -"]);
  });

  test("to no host to which the token server redirects", async () => {
    await using other = startStandIn(content, () => Response.json({ token: "t0ken" }));
    await using registry = startStandIn(content, (got, itself) =>
      got.line.includes(" /token")
        ? new Response(null, { status: 307, headers: { location: `https://${other.host}/token` } })
        : tokens(() => true)(got, itself),
    );
    const how = [authOf(registry.host, "me", "pw")];
    expect(await findOnce(`${registry.host}/team/app`, {}, how)).toMatchObject({ kind: "found" });
    expect(linesOf(other)).toEqual(["GET /token -"]);
    const refresh = [authOf(registry.host, "", "", "refresh me")];
    expect(await findOnce(`${registry.host}/team/app`, {}, refresh)).toMatchObject({ kind: "unknown" });
    expect(other.got).toHaveLength(1);
  });

  test("along with a redirect within the host", async () => {
    await using registry = startStandIn(content, (got, itself) =>
      got.line.includes("/blobs/") && !got.line.includes("?")
        ? new Response(null, { status: 308, headers: { location: `${got.line.slice(4)}?moved` } })
        : passwords(basic("me", "pw"))(got, itself),
    );
    expect(await findOnce(`${registry.host}/team/app`, {}, [authOf(registry.host, "me", "pw")])).toMatchObject({
      kind: "found",
    });
  });

  test("to no other registry, and to no mirror that they are not for", async () => {
    await using mirror = startStandIn(content, () => refusal(404, "NAME_UNKNOWN", "not here"));
    await using registry = startStandIn(content, passwords(basic("me", "pw")));
    const how = { mirrors: [`${registry.host}=${mirror.host}`] };
    expect(await findOnce(`${registry.host}/team/app`, how, [authOf(registry.host, "me", "pw")])).toMatchObject({
      kind: "found",
    });
    expect(mirror.got.map(({ authorization }) => authorization)).toEqual([undefined]);
  });

  test("to a mirror that they name", async () => {
    await using mirror = startStandIn(content, passwords(basic("me", "pw")));
    const how = { mirrors: [`registry.example.com=${mirror.host}`], registries: [] };
    expect(await findOnce("registry.example.com/team/app", how, [authOf(mirror.host, "me", "pw")])).toMatchObject({
      kind: "found",
    });
    expect(mirror.take()[0]).toBe("GET /v2/team/app/manifests/latest?ns=registry.example.com"); // as containerd asks
  });

  test("into no answer for another pod, which has other credentials or none", async () => {
    await using registry = startStandIn(content, passwords(basic("me", "pw"), basic("you", "pw")));
    using asking = createAsking();
    const image = `${registry.host}/team/app`;
    const query = { image, architectures: ["amd64"] as const };
    expect(await find(asking, image, [authOf(registry.host, "me", "pw")], ["amd64"])).toMatchObject({ kind: "found" });
    expect(asking.images.remembered(query, [authOf(registry.host, "me", "pw")])).toMatchObject({ kind: "found" });
    expect(asking.images.remembered(query, [authOf("quay.io", "me", "pw")])).toBeUndefined();
    expect(asking.images.remembered(query, [authOf(registry.host, "me", "pw2")])).toBeUndefined();
    expect(await find(asking, image, [], ["amd64"])).toMatchObject({ failure: "unauthorized" });
    expect(asking.images.remembered(query, [authOf(registry.host, "me", "pw")])).toMatchObject({ kind: "found" });
  });
});
