import { deepStrictEqual } from "node:assert";
import { authsFor, parseDockerConfig, parseDockercfg } from "../../src/cluster/image/core/auths.ts";
import { chooseChallenge } from "../../src/cluster/image/core/challenge.ts";
import { refusalError } from "../../src/cluster/image/core/failure.ts";
import { architectures } from "../../src/cluster/image/core/lookup.ts";
import { parseConfig, parseManifest } from "../../src/cluster/image/core/manifest.ts";
import { chooseEntry } from "../../src/cluster/image/core/platform.ts";
import { formatReference, isDigest, parseReference } from "../../src/cluster/image/core/reference.ts";
import { parseMirror, sourcesOf } from "../../src/cluster/image/core/sources.ts";
import { oneLine } from "../../src/shared/core/text.ts";
import type { Random } from "../harness/random.ts";

// Grammars of what is read of registries, and of what pods and files say of them.

const SECRET = "s3cret";
/** What a registry was sent, and repeats. */
const SENT = "t0ken";
const HEX = "ab".repeat(32);

/** Names of images and mirrors. A name in full is the same name. */
const reference = {
  line: (random: Random) =>
    random.pick([
      "nginx",
      "docker.io/",
      "localhost:5000/",
      "[::1]:5000/",
      "team/app",
      ":1.29",
      `@sha256:${HEX}`,
      "a__b/",
    ]),
  words: ["/", ":", "@", "-", "_", ".", "[", "]", "A", "sha256:", HEX, " ", "=", "http://"],
  check(text: string) {
    const parsed = parseReference(text);
    parseMirror(text);
    if (parsed === undefined) return;
    deepStrictEqual(parseReference(formatReference(parsed)), parsed);
    const sources = sourcesOf(parsed, { registries: "all", registryMirror: [] });
    for (const { origin } of sources) if (new URL(origin).origin !== origin) throw new Error(`no origin: ${origin}`);
  },
};

const challenge = {
  line: (random: Random) =>
    random.pick([
      'Bearer realm="https://a/b",service="x"',
      ',scope="repository:a:pull,push repository:b:pull"',
      "Basic realm=x",
      "Negotiate YWJj==, ",
      'x = "a\\"b"',
    ]),
  words: ['"', "\\", "=", ",", " ", "\t", "Bearer ", "basic", "realm=", "é"],
  check: (text: string) => void chooseChallenge(text, "team/app"),
};

/** Manifests, configs and refusals. */
const manifest = {
  line: (random: Random) =>
    random.pick([
      `"config":{"mediaType":"application/vnd.oci.image.config.v1+json","digest":"sha256:${HEX}"},`,
      `"manifests":[{"mediaType":"a","digest":"sha256:${HEX}","platform":{"os":"linux","architecture":"arm64"}}],`,
      '"config":{"Entrypoint":["/a"],"Cmd":null,"StopSignal":"SIGQUIT","User":""},"architecture":"amd64",',
      '"errors":[{"code":"DENIED","message":"no"}],"details":"x",',
      '"schemaVersion":1,',
    ]),
  words: ["{", "}", "[", "]", '"', ",", ":", "null", "1e999", "\\u0000", '"__proto__":', '"manifests":[', "[[[[", SENT],
  check(text: string) {
    for (const body of [text, `{${text}"x":0}`]) {
      inWords(() => void parseConfig(body));
      inWords(() => {
        const parsed = parseManifest(body);
        const digests = parsed.kind === "image" ? [parsed.configDigest] : parsed.entries.map(({ digest }) => digest);
        if (!digests.every(isDigest)) throw new TypeError("not a digest");
        if (parsed.kind === "index") for (const each of architectures) chooseEntry(parsed, each);
      });
      const { message } = refusalError(
        { who: "a registry", what: "app", image: "app:1", login: "log in" },
        { status: 403, body, retryAfter: text, sent: [SENT] },
      );
      if (message.includes(SENT)) throw new Error("a message that shows what was sent");
      if (message.length > 1500 || message !== oneLine(message)) throw new Error("a message that is no line");
    }
  },
};

const credentials = {
  line: (random: Random) =>
    random.pick([
      `"auths":{"${random.pick(["a.b", "*.b", "https://index.docker.io/v1/", "[", "a?*b:1/c"])}":{"auth":"${btoa(`me:${SECRET}`)}"}},`,
      `"auths":{"a":{"username":"me","password":"${SECRET}"}},`,
      `"auths":{"a":{"identitytoken":"${SECRET}"},"b":null},`,
      '"credsStore":"desktop","credHelpers":{"gcr.io":"gcloud"},',
    ]),
  words: ["{", "}", '"', ",", ":", "null", "[", "*", "?", "/", "\\u0000", '"__proto__":', SECRET],
  check(text: string) {
    inWords(() => {
      const { auths } = parseDockerConfig(`{${text}"x":0}`);
      for (const host of ["docker.io", "a.b", "a:1", "[::1]:5000"]) authsFor([auths], host, "c/d");
    });
    inWords(() => void parseDockercfg(text));
  },
};

/** @throws what `act` throws, unless that is an error in words, which shows no secret: anything else is a bug */
function inWords(act: () => void): void {
  try {
    act();
  } catch (error) {
    const { name, message } = error as Error;
    if (name !== "Error" || message.includes(SECRET)) throw error;
  }
}

export const imageGrammars = { reference, challenge, manifest, credentials };
