import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { ebb } from "../../harness/ebb.ts";
import { listen } from "../../harness/free-port.ts";

interface Witness extends AsyncDisposable {
  /** A URL of it with this userinfo. */
  readonly url: (userinfo: string) => string;
  /** The header Authorization of each request so far. */
  readonly authorizations: readonly (string | undefined)[];
  readonly paths: readonly (string | undefined)[];
}

/** A sidecar's admin interface that is not ready at first, and notes who asks. */
async function startWitness(notReady = 0): Promise<Witness> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    const isReady = request.url !== "/ready" || requests.length > notReady;
    response.writeHead(isReady ? 200 : 503).end(request.url === "/server_info" ? '{"state":"LIVE"}' : "");
    if (["/quitquitquit", "/shutdown"].includes(request.url ?? "")) server.close();
  });
  const port = await listen(server);
  return {
    url: (userinfo) => `http://${userinfo}@127.0.0.1:${port}`,
    get authorizations() {
      return requests.map(({ headers }) => headers.authorization);
    },
    get paths() {
      return requests.map(({ url }) => url);
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** As curl and Go's net/http have it. */
function basic(credentials: string): string {
  return `Basic ${Buffer.from(credentials, "latin1").toString("base64")}`;
}

const quick = ["--min-drain", "10ms", "--drain", "1s"];

describe("every request that ebb makes to a URL with userinfo has it as Basic credentials:", () => {
  test.each<[string, (admin: string) => readonly string[], Readonly<Record<string, string>>?]>([
    ["run", (admin) => ["run", "--sidecar", "envoy", "--admin", admin, "--", "true"]],
    ["wait", (admin) => ["wait", "--sidecar", "none", `${admin}/ready`]],
    ["quit", (admin) => ["quit", "--sidecar", "none", "--quit", `${admin}/quitquitquit`]],
    ["drain", (admin) => ["drain", "--sidecar", "envoy", "--admin", admin, ...quick]],
    ["request", (admin) => ["request", `${admin}/stats`]],
    ["request --admin", (admin) => ["request", "--admin", admin, "/stats"]],
    ["status", (admin) => ["status", "--sidecar", "envoy", "--admin", admin]],
    ["linkerd-await", (admin) => ["linkerd-await", "--shutdown", `--uri=${admin}/ready`, "--", "true"]],
  ])("%s", async (_, args) => {
    await using witness = await startWitness();
    await ebb(args(witness.url("me:p%40ss%3a")));
    expect(witness.authorizations.length).toBeGreaterThan(0);
    expect(new Set(witness.authorizations)).toEqual(new Set([basic("me:p@ss:")]));
  });

  test("scuttle", async () => {
    await using witness = await startWitness();
    const env = { ENVOY_ADMIN_API: witness.url("me:word"), ISTIO_QUIT_API: witness.url("you:other") };
    expect((await ebb(["scuttle", "true"], { env })).code).toBe(0);
    expect(witness.paths.at(-1)).toBe("/quitquitquit");
    expect(new Set(witness.authorizations)).toEqual(new Set([basic("me:word"), basic("you:other")]));
  });

  test("those while it is not ready, and long not", async () => {
    await using witness = await startWitness(30);
    const { code } = await ebb(["wait", "--sidecar", "none", `${witness.url("me:word")}/ready`]);
    expect([code, new Set(witness.authorizations)]).toEqual([0, new Set([basic("me:word")])]);
    expect(witness.authorizations.length).toBeGreaterThan(30);
  });

  test("over TLS", async () => {
    const pem = join(import.meta.dirname, "../../fixtures/localhost.pem");
    const text = readFileSync(pem, "utf8");
    const seen: (string | null)[] = [];
    const fetch = ({ headers }: Request) => {
      seen.push(headers.get("authorization"));
      return new Response("");
    };
    const server = Bun.serve({ port: 0, tls: { key: text, cert: text }, fetch });
    const url = `https://me:word@localhost:${server.port}/`;
    const env = { NODE_EXTRA_CA_CERTS: pem };
    expect((await ebb(["request", url], { env })).code).toBe(0);
    expect((await ebb(["run", "--sidecar", "none", "--ready", url, "--quit", url, "--", "true"], { env })).code).toBe(
      0,
    );
    await server.stop(true);
    expect(seen.length).toBeGreaterThan(2);
    expect(new Set(seen)).toEqual(new Set([basic("me:word")]));
  });
});

describe("userinfo of the form", () => {
  test.each([
    ["me", "me:"],
    [":word", ":word"],
    ["m%C3%A9:%ff", "m\u00c3\u00a9:\u00ff"],
    ["mé:w", "m\u00c3\u00a9:w"],
    ["me:50%", "me:50%"],
    ["me%0d%0aX:w", "me\r\nX:w"],
    ["me@home:w@x", "me@home:w@x"],
  ])("%s is sent as %j", async (userinfo, credentials) => {
    await using witness = await startWitness();
    expect((await ebb(["request", witness.url(userinfo)])).code).toBe(0);
    expect(witness.authorizations).toEqual([basic(credentials)]);
  });
});

test("a header that is given comes first", async () => {
  await using witness = await startWitness();
  const header = ["--header", "authorization: Bearer token"];
  await ebb(["request", ...header, witness.url("me:word")]);
  await ebb(["quit", "--sidecar", "none", ...header, "--quit", `${witness.url("me:word")}/quitquitquit`]);
  expect(witness.authorizations).toEqual(["Bearer token", "Bearer token"]);
});

test("a URL without userinfo has no credentials", async () => {
  await using witness = await startWitness();
  await ebb(["request", witness.url("")]);
  expect(witness.authorizations).toEqual([undefined]);
});
