import { createHash } from "node:crypto";
import { bodyOf, parse, refusalOf } from "./answer.ts";
import { authorize } from "./authorize.ts";
import type { RegistryAuth } from "./core/auths.ts";
import { chooseChallenge, type TokenSource } from "./core/challenge.ts";
import { askedFor, LookupError, loginRemedy, lookupError, type Refused } from "./core/failure.ts";
import type { Architecture } from "./core/lookup.ts";
import {
  type ImageConfig,
  type Manifest,
  manifestTypes,
  type Platform,
  parseConfig,
  parseManifest,
  SCHEMA_1,
  schema1Type,
} from "./core/manifest.ts";
import { chooseEntry, type ImageReport, type Index } from "./core/platform.ts";
import { isDigest, type Reference } from "./core/reference.ts";
import { type RegistryAnswer, sendRequest } from "./send-request.ts";
import { registryOf, type Session } from "./session.ts";

/**
 * Asks a registry what an image is on some processors: its manifest (of each platform), and its config. Verifies every
 * digest. Rejects with LookupError.
 */
export async function readImage(
  session: Session,
  { tag, digest }: Reference,
  architectures: readonly Architecture[],
): Promise<ImageReport> {
  const top = await readManifest(session, digest ?? tag ?? "");
  if (top.manifest.kind === "image") {
    const config = await readConfig(session, top.manifest.configDigest);
    const isFor = isForOneOf(config.platform, architectures);
    return { digest: top.digest, platforms: [config.platform], configs: isFor ? [config] : [] };
  }
  const index = top.manifest;
  const found = await Promise.all(architectures.map((architecture) => readOf(session, index, architecture)));
  const configs = found.filter((config) => config !== undefined);
  const named = index.entries.map(({ platform }) => platform).filter(({ os }) => os !== "");
  return { digest: top.digest, platforms: [...named, ...configs.map(({ platform }) => platform)], configs };
}

/** The most indexes on the way to an image. */
const MOST_INDEXES = 3;

/** Reads what an index has for a processor; undefined if that is nothing. */
async function readOf(
  session: Session,
  index: Index,
  architecture: Architecture,
  depth = 1,
): Promise<ImageConfig | undefined> {
  const entry = chooseEntry(index, architecture);
  if (entry === undefined) return undefined;
  const isNamed = entry.platform.os !== "";
  const reading = readManifest(session, entry.digest);
  const manifest = (await (isNamed ? reading : reading.catch(unlessOdd)))?.manifest;
  if (manifest === undefined) return undefined; // of no platform, and no image: a signature, a bill of materials
  if (manifest.kind === "index") {
    if (depth < MOST_INDEXES) return await readOf(session, manifest, architecture, depth + 1);
    throw lookupError("invalid", `${registryOf(session)} has more than ${MOST_INDEXES} indexes one in another`);
  }
  const config = await readConfig(session, manifest.configDigest);
  if (isNamed) return { ...config, platform: entry.platform };
  return isForOneOf(config.platform, [architecture]) ? config : undefined;
}

/**
 * Asks a registry which digest an image's tag has now, which costs none of Docker Hub's pulls. Resolves with undefined
 * if it does not say. Rejects with LookupError.
 */
export async function readDigest(session: Session, { tag = "" }: Reference): Promise<string | undefined> {
  const { headers } = await requestWithAuth(session, "HEAD", `manifests/${tag}`, manifestTypes.join());
  return headers.get("docker-content-digest");
}

/** Reports whether an image may run on one of the processors; what it does not say is no reason against it. */
function isForOneOf({ os, architecture }: Platform, architectures: readonly string[]): boolean {
  return ["", "linux"].includes(os) && (architecture === "" || architectures.includes(architecture));
}

/** @throws what was caught, unless a registry has answered that it has none, or with something else */
export function unlessOdd(error: unknown): undefined {
  if (!(error instanceof LookupError && ["invalid", "not-found"].includes(error.failure))) throw error;
}

interface Verified {
  readonly digest: string;
  readonly manifest: Manifest;
}

async function readManifest(session: Session, name: string): Promise<Verified> {
  const response = await requestWithAuth(session, "GET", `manifests/${name}`, manifestTypes.join());
  if (schema1Type.test(response.headers.get("content-type") ?? ""))
    throw lookupError("invalid", `${registryOf(session)}: ${SCHEMA_1}`);
  const named = response.headers.get("docker-content-digest") ?? "";
  const body = await bodyOf(session, response, session.client.mostBytes);
  const digest = isDigest(name) ? name : isDigest(named) ? named : digestOf(body, "sha256");
  verify(session, body, digest);
  return { digest, manifest: parse(session, () => parseManifest(body.toString())) };
}

async function readConfig(session: Session, digest: string): Promise<ImageConfig> {
  const response = await requestWithAuth(session, "GET", `blobs/${digest}`, "*/*");
  const body = await bodyOf(session, response, session.client.mostBytes);
  verify(session, body, digest);
  return parse(session, () => parseConfig(body.toString()));
}

function verify(session: Session, body: Buffer, expected: string): void {
  const got = digestOf(body, expected.slice(0, expected.indexOf(":")));
  if (got !== expected)
    throw lookupError("invalid", `${registryOf(session)} sent bytes of the digest ${got} for ${expected}`);
}

function digestOf(body: Buffer, algorithm: string): string {
  return `${algorithm}:${createHash(algorithm).update(body).digest("hex")}`;
}

/**
 * Asks for something of the repository. If the registry wants to know who asks, it is told by each of the credentials
 * until one is right, as the kubelet does. Resolves with an answer of 200; rejects with LookupError for others.
 */
async function requestWithAuth(
  session: Session,
  method: "GET" | "HEAD",
  path: string,
  accept: string,
): Promise<RegistryAnswer> {
  const { origin, repository, mirrors } = session.source;
  // as containerd does it: some mirrors tell by `ns` for whom they are asked
  const url = `${origin}/v2/${repository}/${path}${mirrors === undefined ? "" : `?ns=${encodeURIComponent(mirrors)}`}`;
  const send = () => sendRequest(session, { method, url, headers: { accept }, authorization: session.authorization });
  const response = await send();
  if (response.status < 300) return response;
  const refused = refusedOf(session, path);
  // where it redirects to is told nothing of who asks
  if (response.status !== 401 || new URL(response.url).origin !== origin)
    throw await refusalOf(session, response, refused);
  const challenge = chooseChallenge(response.headers.get("www-authenticate") ?? "", repository);
  await response.cancel();
  if (challenge === undefined) throw unauthorized(refused, "401 without a way to authenticate");
  let refusal = unauthorized({ ...refused, what: askedFor(refused.what, false) }, "401");
  for (const auth of session.auths.length > 0 ? session.auths : [undefined]) {
    const attempt = { refused: { ...refused, what: askedFor(refused.what, auth !== undefined) }, send };
    const answer = await tryWith(session, challenge, auth, attempt);
    if (answer === undefined) continue;
    if (!(answer instanceof LookupError)) return answer;
    refusal = answer;
    if (refusal.failure !== "unauthorized") break;
  }
  throw refusal;
}

/**
 * Asks once more, with credentials. Returns an answer of 200, or why there is none; undefined if there was nothing to
 * send.
 */
async function tryWith(
  session: Session,
  challenge: TokenSource | "basic",
  auth: RegistryAuth | undefined,
  { refused, send }: { readonly refused: Refused; readonly send: () => Promise<RegistryAnswer> },
): Promise<RegistryAnswer | LookupError | undefined> {
  try {
    session.authorization = await authorize(session, challenge, auth);
    if (session.authorization === undefined) return undefined;
    const response = await send();
    return response.status < 300 ? response : await refusalOf(session, response, refused);
  } catch (error) {
    if (error instanceof LookupError) return error;
    throw error;
  }
}

function refusedOf({ source, client }: Session, path: string): Refused {
  const name = path.slice(path.indexOf("/") + 1);
  return {
    who: registryOf({ source }),
    what: source.repository,
    image: `${source.repository}${isDigest(name) ? "@" : ":"}${name}`,
    login: loginRemedy(source.host, client.isAtDesk),
  };
}

function unauthorized({ who, what, login }: Refused, why: string): LookupError {
  return lookupError("unauthorized", `${who} refuses ${what} (${why})`, { remedy: login });
}
