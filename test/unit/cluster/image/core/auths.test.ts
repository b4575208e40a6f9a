import { describe, expect, test } from "bun:test";
import { authsFor, helperFor, parseDockerConfig, parseDockercfg } from "../../../../../src/cluster/image/core/auths.ts";
import { parseReference, type Reference } from "../../../../../src/cluster/image/core/reference.ts";

const base64 = (text: string) => Buffer.from(text).toString("base64");
const configOf = (...names: readonly string[]) =>
  parseDockerConfig(
    JSON.stringify({ auths: Object.fromEntries(names.map((name) => [name, { auth: base64(`user:${name}`) }])) }),
  ).auths;

/** The passwords with which an image is asked for: the names under which they stand. */
function usedFor(image: string, ...configs: readonly (readonly string[])[]): readonly string[] {
  const { host, repository } = parseReference(image) as Reference;
  return authsFor(
    configs.map((names) => configOf(...names)),
    host,
    repository,
  ).map(({ password }) => password);
}

// as the kubelet has it: pkg/credentialprovider/keyring_test.go
describe("credentials that are for an image", () => {
  test.each([
    ["*.kubernetes.io", "prefix.kubernetes.io/blah"],
    ["prefix.*.io", "prefix.kubernetes.io/blah"],
    ["prefix.kubernetes.*", "prefix.kubernetes.io/blah"],
    ["*-good.kubernetes.io", "prefix-good.kubernetes.io/blah"],
    ["*.*.*.kubernetes.io", "a.b.c.kubernetes.io/blah"],
    ["pre?ix.kubernetes.io", "prefix.kubernetes.io/blah"],
    ["prefix.*.io/foo", "prefix.kubernetes.io/foo/bar"],
    ["prefix.*.io:1111/foo", "prefix.kubernetes.io:1111/foo/bar"],
    ["https://hello.kubernetes.io", "hello.kubernetes.io/blah"],
    ["https://*.kubernetes.io/v1/", "prefix.kubernetes.io/path"],
    ["https://*.kubernetes.io/v2/path", "prefix.kubernetes.io/path/x"],
    ["http://registry.example.com:5000", "registry.example.com:5000/a"],
    ["registry.example.com/team", "registry.example.com/team-b/app"], // a prefix, not a part
    ["*.dkr.ecr.*.amazonaws.com", "1.dkr.ecr.eu-central-1.amazonaws.com/app"],
    ["https://index.docker.io/v1/", "nginx"],
    ["index.docker.io", "docker.io/team/app"],
    ["docker.io", "nginx"],
    ["docker.io/team", "team/app"],
    ["registry-1.docker.io", "nginx"],
  ])("%s is for %s", (name, image) => {
    expect(usedFor(image, [name])).toEqual([name]);
  });

  test.each([
    ["*.kubernetes.io", "kubernetes.io/a"],
    ["*.*.kubernetes.io", "prefix.kubernetes.io/a"],
    ["*kubernetes.io", "a.kubernetes.io/a"],
    ["k*.io", "quay.io/a"],
    ["kubernetes.io", "kubernetes.com/a"],
    ["prefix.*.io/foo", "prefix.kubernetes.io:1111/foo/bar"],
    ["*.kubernetes.io:1234", "prefix.kubernetes.io:1111/a"],
    ["registry.example.com", "registry.example.com:5000/a"],
    ["registry.example.com/team", "registry.example.com/other/app"],
    ["https://index.docker.io/v1/", "quay.io/a"],
    ["[a-z]*.example.com", "b.example.com/a"],
  ])("%s is not for %s", (name, image) => {
    expect(usedFor(image, [name])).toEqual([]);
  });

  test.each([
    ["a*b*c", "axbyc", true],
    ["a*b*c", "abcbc", true],
    ["*ab", "aab", true],
    ["a**", "a", true],
    ["*?", "a", true],
    ["a*b", "abc", false],
    ["*??", "a", false],
  ])("%s takes the place of %s: %p", (glob, label, isFor) => {
    expect(usedFor(`${label}.example.com/a`, [`${glob}.example.com`])).toHaveLength(isFor ? 1 : 0);
  });

  test("a name of many stars, which any user may write into a Secret, costs no time", () => {
    const host = "my-company-artifactory-production-registry.example.com";
    const start = performance.now();
    expect(usedFor(`${host}/a`, [`${"*?".repeat(12)}*_.example.com`])).toEqual([]);
    expect(performance.now() - start).toBeLessThan(1000); // an expression took minutes
  });

  test("the most specific come first, and each file's before the next one's", () => {
    const names = ["quay.io", "quay.io/team/app", "*.io", "quay.io/team"];
    expect(usedFor("quay.io/team/app", names, ["quay.io"])).toEqual([
      "quay.io/team/app",
      "quay.io/team",
      "quay.io",
      "*.io",
      "quay.io",
    ]);
  });

  test.each([[["quay.io", "https://quay.io"]], [["https://quay.io", "quay.io", "quay.io/"]]])(
    "of %j for one registry, its own name wins",
    (names) => {
      expect(usedFor("quay.io/a", names)).toEqual(["quay.io"]);
    },
  );

  test("those of Docker Hub's other names count only if there are none of its own", () => {
    expect(usedFor("nginx", ["docker.io", "https://index.docker.io/v1/"])).toEqual(["docker.io"]);
  });
});

describe("a file with credentials", () => {
  const parsed = (entry: object) => parseDockerConfig(JSON.stringify({ auths: { a: entry } })).auths.get("a");

  test.each([
    ["auth", { auth: base64("me:pass:word") }, { username: "me", password: "pass:word" }],
    ["auth without padding", { auth: base64("a:bcd").replace(/=+$/, "") }, { username: "a", password: "bcd" }],
    ["name and password", { username: "me", password: "pw" }, { username: "me", password: "pw" }],
    [
      "both, of which auth wins",
      { auth: base64("a:b"), username: "c", password: "d" },
      { username: "a", password: "b" },
    ],
    ["one that Docker padded with NULs", { auth: base64("a:b\0\0") }, { username: "a", password: "b" }],
    [
      "a refresh token",
      { auth: base64("id:"), identitytoken: "t" },
      { username: "id", password: "", identityToken: "t" },
    ],
  ])("%s", (_, entry, wanted) => {
    expect(parsed(entry)).toEqual({ identityToken: undefined, ...wanted });
  });

  test.each([
    ["an empty entry, Docker's mark for the credsStore", {}],
    ["an auth without a colon", { auth: base64("abc") }],
    ["an auth that is no base64", { auth: "?" }],
  ])("%s gives none", (_, entry) => {
    expect(parsed(entry)).toBeUndefined();
  });

  test("names the programs that know more", () => {
    const text = JSON.stringify({ credsStore: "desktop", credHelpers: { "gcr.io": "gcloud" }, HttpHeaders: {} });
    expect(parseDockerConfig(text)).toEqual({
      auths: new Map(),
      credsStore: "desktop",
      credHelpers: new Map([["gcr.io", "gcloud"]]),
    });
  });

  test.each([
    ["https://index.docker.io/v1/", "docker.io"],
    ["index.docker.io", "docker.io"],
    ["docker.io", "docker.io"],
    ["https://gcr.io", "gcr.io"],
  ])("names by %s the program for %s", (name, host) => {
    const config = parseDockerConfig(JSON.stringify({ credsStore: "other", credHelpers: { [name]: "it" } }));
    expect([helperFor(config, host), helperFor(config, "quay.io")]).toEqual(["it", "other"]);
  });

  test("of Docker's old file are its entries", () => {
    expect(parseDockercfg(JSON.stringify({ "https://registry.example.com": { auth: btoa("me:pw") } }))).toEqual(
      new Map([["registry.example.com", { username: "me", password: "pw", identityToken: undefined }]]),
    );
    expect(() => parseDockercfg('{"auths": {"a": "secret"}, "b": 1}')).toThrow("expected a config.json of Docker's");
  });

  test.each([
    ["no JSON", '{"auths": secret}', "not JSON"],
    ["a list", '["secret"]', "expected a config.json of Docker's"],
    ["a wrong field", '{"auths": {"a": "secret"}}', "expected a config.json of Docker's: auths"],
  ])("%s is refused without its content", (_, text, message) => {
    const error = (() => {
      try {
        parseDockerConfig(text);
      } catch (thrown) {
        return (thrown as Error).message;
      }
      return "";
    })();
    expect(error).toContain(message);
    expect(error).not.toContain("secret");
  });
});
