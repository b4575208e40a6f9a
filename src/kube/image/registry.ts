import { createHash } from "node:crypto";
import { z } from "zod/mini";
import type { RegistryAuth } from "../../core/image/auths.ts";
import { chooseChallenge, type TokenSource } from "../../core/image/challenge.ts";
import { LookupError, lookupError, refusalError } from "../../core/image/failure.ts";
import type { Architecture } from "../../core/image/lookup.ts";
import {
  type ImageConfig,
  type Manifest,
  manifestTypes,
  type Platform,
  parseConfig,
  parseManifest,
} from "../../core/image/manifest.ts";
import { chooseEntries, type ImageReport } from "../../core/image/platform.ts";
import { isDigest, type Reference } from "../../core/image/reference.ts";
import { MiB, readStreamWithin } from "../../system/input.ts";
import { type Asked, type Conversation, checkedTarget, exchange, nameOf, toLookupError } from "./exchange.ts";

/** OCI distribution-spec 1.1, "Pushing Manifests": a registry takes manifests of at least 4 MiB, and few take more. */
const LARGEST = 4 * MiB;
const LARGEST_TOKEN = MiB;
const LARGEST_REFUSAL = 64 * 1024;

/** A conversation with a registry about one repository. */
export interface Session extends Conversation {
  /** The credentials to try, in order; none: anonymous. */
  readonly auths: readonly RegistryAuth[];
}

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
  const { entries } = top.manifest;
  const configs = await Promise.all(
    chooseEntries(top.manifest, architectures).map(async (entry) => {
      const { manifest } = await readManifest(session, entry.digest);
      if (manifest.kind === "index") throw lookupError("invalid", `${nameOf(session)} has an index in an index`);
      return { ...(await readConfig(session, manifest.configDigest)), platform: entry.platform };
    }),
  );
  return { digest: top.digest, platforms: entries.map(({ platform }) => platform), configs };
}

/**
 * Asks a registry which digest an image's tag has now, which costs none of Docker Hub's pulls. Resolves with undefined
 * if it does not say. Rejects with LookupError.
 */
export async function readDigest(session: Session, { tag = "" }: Reference): Promise<string | undefined> {
  const { headers } = await ask(session, "HEAD", `manifests/${tag}`, manifestTypes.join());
  return headers.get("docker-content-digest") ?? undefined;
}

/** Reports whether an image may run on one of the processors; what it does not say is no reason against it. */
function isForOneOf({ os, architecture }: Platform, architectures: readonly string[]): boolean {
  return ["", "linux"].includes(os) && (architecture === "" || architectures.includes(architecture));
}

interface Verified {
  readonly digest: string;
  readonly manifest: Manifest;
}

async function readManifest(session: Session, name: string): Promise<Verified> {
  const response = await ask(session, "GET", `manifests/${name}`, manifestTypes.join());
  const said = response.headers.get("docker-content-digest");
  const body = await bodyOf(session, response, LARGEST);
  const wanted = isDigest(name) ? name : said !== null && isDigest(said) ? said : digestOf(body, "sha256");
  verify(session, body, wanted);
  return { digest: wanted, manifest: parse(session, () => parseManifest(body.toString())) };
}

async function readConfig(session: Session, digest: string): Promise<ImageConfig> {
  const response = await ask(session, "GET", `blobs/${digest}`, "*/*");
  const body = await bodyOf(session, response, LARGEST);
  verify(session, body, digest);
  return parse(session, () => parseConfig(body.toString()));
}

function verify(session: Session, body: Buffer, wanted: string): void {
  const got = digestOf(body, wanted.slice(0, wanted.indexOf(":")));
  if (got !== wanted) throw lookupError("invalid", `${nameOf(session)} sent bytes of the digest ${got} for ${wanted}`);
}

function digestOf(body: Buffer, algorithm: string): string {
  return `${algorithm}:${createHash(algorithm).update(body).digest("hex")}`;
}

function parse<T>(session: Session, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw lookupError("invalid", `${nameOf(session)}: ${(error as Error).message}`);
  }
}

async function bodyOf(session: Session, response: Response, most: number): Promise<Buffer> {
  try {
    return await readStreamWithin("its answer", response.body ?? new Blob().stream(), most);
  } catch (error) {
    if (error instanceof Error && /^its answer has more/.test(error.message))
      throw lookupError("invalid", `${nameOf(session)}: ${error.message}`);
    throw toLookupError(error, session.source.host);
  }
}

/**
 * Asks for something of the repository. If the registry wants to know who asks, it is told by each of the credentials
 * until one is right, as the kubelet does. Resolves with an answer of 200; rejects with LookupError for others.
 */
async function ask(session: Session, method: "GET" | "HEAD", path: string, accept: string): Promise<Response> {
  const { origin, repository, mirrors } = session.source;
  // as containerd does it: some mirrors tell by `ns` for whom they are asked
  const url = `${origin}/v2/${repository}/${path}${mirrors === undefined ? "" : `?ns=${encodeURIComponent(mirrors)}`}`;
  const send = () => exchange(session, { method, url, headers: { accept }, authorization: session.authorization });
  const who = `${nameOf(session)} refuses ${repository}`;
  let response = await send();
  if (response.status === 401) {
    const challenge = chooseChallenge(response.headers.get("www-authenticate") ?? "", repository);
    await response.body?.cancel();
    if (challenge === undefined) throw lookupError("unauthorized", `${who}: 401 without a way to authenticate`);
    let refusal = lookupError("unauthorized", `${who} without credentials: 401`);
    for (const auth of session.auths.length > 0 ? session.auths : [undefined]) {
      try {
        session.authorization = await authorize(session, challenge, auth);
        if (session.authorization === undefined) continue;
        response = await send();
        if (response.ok) return response;
        refusal = await refusalOf(response, auth === undefined ? `${who} without credentials` : who);
      } catch (error) {
        if (!(error instanceof LookupError)) throw error;
        refusal = error;
      }
      if (refusal.failure !== "unauthorized") break;
    }
    throw refusal;
  }
  if (!response.ok) throw await refusalOf(response, who);
  return response;
}

async function refusalOf(response: Response, who: string): Promise<LookupError> {
  const body = await readStreamWithin("it", response.body ?? new Blob().stream(), LARGEST_REFUSAL).catch(() => "");
  const { status, headers } = response;
  return refusalError(who, { status, body: body.toString(), retryAfter: headers.get("retry-after") });
}

/** Returns the Authorization for a challenge; undefined if there are no credentials for it. */
async function authorize(
  session: Session,
  challenge: TokenSource | "basic",
  auth: RegistryAuth | undefined,
): Promise<string | undefined> {
  if (challenge !== "basic") return `Bearer ${await readToken(session, challenge, auth)}`;
  return auth === undefined || auth.password === "" ? undefined : basic(auth);
}

function basic({ username, password }: RegistryAuth): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}`;
}

const answer = z.looseObject({ token: z.optional(z.string()), access_token: z.optional(z.string()) });

/**
 * Gets a token for a repository: by GET (distribution, docs/content/spec/auth/token.md), with a refresh token by POST
 * (oauth.md). Rejects with LookupError.
 */
async function readToken(
  session: Session,
  { realm, service, scopes }: TokenSource,
  auth: RegistryAuth | undefined,
): Promise<string> {
  const url = await checkedTarget(session, realm);
  const response = await exchange(session, tokenRequest(url, { service, scopes }, auth));
  const who = `the token server ${url.host} of ${nameOf(session)} refuses`;
  if (!response.ok) throw await refusalOf(response, auth === undefined ? `${who} a token without credentials` : who);
  const body = await bodyOf(session, response, LARGEST_TOKEN);
  const { token, access_token: other } = parse(session, () => z.parse(answer, JSON.parse(body.toString())));
  const got = token || other || "";
  if (/^[\x21-\x7e]+$/.test(got)) return got;
  throw lookupError("invalid", `the token server ${url.host} of ${nameOf(session)} sent no token`);
}

function tokenRequest(
  realm: URL,
  { service, scopes }: Pick<TokenSource, "service" | "scopes">,
  auth: RegistryAuth | undefined,
): Asked {
  const headers = { accept: "application/json" };
  if (auth?.identityToken !== undefined) {
    const form = new URLSearchParams({
      grant_type: "refresh_token",
      service: service ?? "",
      client_id: "ebb",
      scope: scopes.join(" "),
      refresh_token: auth.identityToken,
    });
    const type = { "content-type": "application/x-www-form-urlencoded" };
    return {
      method: "POST",
      url: realm.href,
      headers: { ...headers, ...type },
      body: `${form}`,
      authorization: undefined,
    };
  }
  const url = new URL(realm);
  if (service !== undefined) url.searchParams.set("service", service);
  for (const scope of scopes) url.searchParams.append("scope", scope);
  url.searchParams.set("client_id", "ebb");
  return { method: "GET", url: url.href, headers, authorization: auth === undefined ? undefined : basic(auth) };
}
