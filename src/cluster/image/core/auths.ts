import { z } from "zod/mini";
import { DOCKER_HUB, hubNames } from "./reference.ts";

/**
 * The credentials of one `config.json` of Docker's, or of one Secret of a type that has such, by the names of the
 * registries that it lists.
 */
export type RegistryAuths = ReadonlyMap<string, RegistryAuth>;

export interface RegistryAuth {
  readonly username: string;
  readonly password: string;
  /** An OAuth 2 refresh token in place of both. */
  readonly identityToken: string | undefined;
}

const entry = z.looseObject({
  auth: z.optional(z.nullable(z.string())),
  username: z.optional(z.nullable(z.string())),
  password: z.optional(z.nullable(z.string())),
  identitytoken: z.optional(z.nullable(z.string())),
});

/** A `config.json` of Docker's, podman's `auth.json` (containers-auth.json(5)), or a `.dockerconfigjson`. */
const dockerConfig = z.looseObject({
  auths: z.optional(z.nullable(z.record(z.string(), z.nullable(entry)))),
  credsStore: z.optional(z.nullable(z.string())),
  credHelpers: z.optional(z.nullable(z.record(z.string(), z.string()))),
});

/** A parsed file of credentials. */
export interface DockerConfig {
  readonly auths: RegistryAuths;
  /** The program `docker-credential-NAME` that knows the credentials of all registries; undefined for none. */
  readonly credsStore: string | undefined;
  /** Those of single registries, by their names; they win. */
  readonly credHelpers: ReadonlyMap<string, string>;
}

/** Parses a file of credentials. @throws Error if it is no such file; the message does not repeat what it holds */
export function parseDockerConfig(text: string): DockerConfig {
  return dockerConfigOf(parse(text));
}

/** Parses Docker's file before 2015, `.dockercfg`, which is the `auths` of a `config.json` alone. @throws Error as above */
export function parseDockercfg(text: string): RegistryAuths {
  return dockerConfigOf({ auths: parse(text) }).auths;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("not JSON"); // the parser's own message repeats a part of the text
  }
}

function dockerConfigOf(value: unknown): DockerConfig {
  const result = z.safeParse(dockerConfig, value);
  if (!result.success)
    throw new Error(`expected a config.json of Docker's: ${result.error.issues[0]?.path.slice(0, 1).join(".")}`);
  const { auths, credsStore, credHelpers } = result.data;
  const entries = Object.entries(auths ?? {}).flatMap(([name, given]): (readonly [string, RegistryAuth])[] => {
    const auth = given === null ? undefined : authOf(given);
    return auth === undefined ? [] : [[name, auth]];
  });
  return {
    auths: byKey(entries),
    credsStore: credsStore || undefined,
    credHelpers: byKey(Object.entries(credHelpers ?? {})),
  };
}

/** As pkg/credentialprovider/config.go of the kubelet reads an entry: `auth` wins over name and password. */
function authOf({ auth, username, password, identitytoken }: z.infer<typeof entry>): RegistryAuth | undefined {
  const decoded = auth ? Buffer.from(auth, "base64").toString() : `${username ?? ""}:${password ?? ""}`;
  const colon = decoded.indexOf(":");
  if (colon < 0) return undefined;
  const identityToken = identitytoken || undefined;
  // Docker's own files end in NULs (docker/cli, cli/config/configfile/file.go, decodeAuth)
  const [secret = ""] = decoded.slice(colon + 1).split("\0", 1);
  const named = { username: decoded.slice(0, colon), password: secret };
  if (named.password === "" && identityToken === undefined) return undefined; // Docker's mark for "in the credsStore"
  return { ...named, identityToken };
}

/**
 * Returns the helper for a registry; the empty text if the file itself has its credentials, undefined if none is named.
 */
export function helperFor({ credHelpers, credsStore }: DockerConfig, host: string): string | undefined {
  const names = host === DOCKER_HUB ? [host, ...hubNames] : [host];
  const name = names.find((each) => credHelpers.has(each));
  return name === undefined ? credsStore : credHelpers.get(name);
}

/** Maps entries by their registries; of two for one registry, the one that has just that name wins. */
function byKey<T>(entries: readonly (readonly [string, T])[]): ReadonlyMap<string, T> {
  const isExact = ([name]: readonly [string, T]) => keyOf(name) === name;
  const ordered = [...entries.filter((one) => !isExact(one)), ...entries.filter(isExact)];
  return new Map(ordered.map(([name, value]) => [keyOf(name), value]));
}

/** Returns a registry's name without scheme and API version: `https://index.docker.io/v1/` is `index.docker.io`. */
function keyOf(name: string): string {
  const [, host = "", path = ""] = /^(?:https?:\/\/)?([^/]*)(.*)$/s.exec(name) ?? [];
  const rest = path.replace(/^\/v[12](?=\/)/, "");
  return host + (rest === "/" ? "" : rest);
}

/**
 * Returns the credentials for a repository, the most specific first: as the kubelet does (pkg/credentialprovider/
 * keyring.go), globs stand for one label of the host, the port must be the same, and a path is a prefix.
 */
export function authsFor(auths: readonly RegistryAuths[], host: string, repository: string): readonly RegistryAuth[] {
  return auths.flatMap((each) => {
    if (each.size === 0) return [];
    const keys = [...each.keys()]
      .filter((key) => isMatch(key, host, `/${repository}`))
      .sort()
      .reverse();
    const found = keys.length > 0 || host !== DOCKER_HUB ? keys : hubNames.filter((key) => each.has(key)).slice(0, 1);
    return found.map((key) => each.get(key) as RegistryAuth);
  });
}

function isMatch(key: string, host: string, path: string): boolean {
  const slash = key.indexOf("/");
  const glob = slash < 0 ? key : key.slice(0, slash);
  if (slash >= 0 && !path.startsWith(key.slice(slash))) return false;
  if (glob === host) return true;
  if (!/[*?]/.test(glob)) return false;
  const [globs, parts] = [splitHost(glob), splitHost(host)];
  if (globs.port !== parts.port || globs.labels.length !== parts.labels.length) return false;
  return globs.labels.every((label, at) => isGlobMatch(label, parts.labels[at] ?? ""));
}

function splitHost(text: string): { readonly labels: readonly string[]; readonly port: string } {
  const [, name = text, port = ""] = /^(.*?)(?::(\d+))?$/.exec(text) ?? [];
  return { labels: name.split("."), port };
}

/**
 * Go's filepath.Match, without its classes of characters, which names of hosts do not need. The time is linear in the
 * product of the lengths: any user may write a Secret, and an expression with many `.*` could take minutes.
 */
function isGlobMatch(glob: string, text: string): boolean {
  let [at, star, from] = [0, -1, 0];
  for (let read = 0; read < text.length; ) {
    if (glob[at] === "*") {
      [star, from] = [at, read];
      at += 1;
    } else if (glob[at] === "?" || glob[at] === text[read]) {
      at += 1;
      read += 1;
    } else if (star >= 0) {
      from += 1;
      [at, read] = [star + 1, from]; // the last star takes one more
    } else return false;
  }
  return /^\**$/.test(glob.slice(at));
}
