import { formatDuration } from "../../shared/core/duration.ts";
import { redactSecrets, redactUrl, secretsIn } from "../../shared/core/redact.ts";
import { type FetchedAnswer, fetchWithin } from "../../shared/http/fetch.ts";
import type { RequestFailed } from "../../shared/http/request-failed.ts";
import { type Environment, proxyFor } from "../api/proxy.ts";
import { internalAddressOf } from "./addresses.ts";
import { type LookupError, lookupError } from "./core/failure.ts";
import { isListed, type Source, type SourcePolicy } from "./core/sources.ts";

const MOST_REDIRECTS = 5;

/** How registries are reached. */
export interface Reach {
  readonly policy: SourcePolicy;
  /** All CAs that are trusted, in PEM; undefined: the usual ones. */
  readonly ca: readonly string[] | undefined;
  /** For HTTPS_PROXY. */
  readonly env: Environment;
  /** The most bytes of a manifest or a config. */
  readonly mostBytes: number;
  /** How many bytes of answers are arriving, by registry, and the most of each. */
  readonly arriving: Map<string, number>;
  readonly mostArriving: number;
  /** Whether a person started ebb. */
  readonly isAtDesk: boolean;
}

/** The requests of one look-up at one registry. */
export interface Conversation {
  readonly source: Source;
  readonly reach: Reach;
  /** Its end, and how long it may take. */
  readonly signal: AbortSignal;
  readonly limitMs: number;
  /** The Authorization for the registry itself. */
  authorization?: string | undefined;
  /** Whether anybody has answered a request. */
  isAnswered: boolean;
  /** The secrets that were sent, which the answers may repeat. */
  readonly sent: string[];
}

/** A request to the registry or its token server. */
export interface Asked {
  readonly method: "GET" | "HEAD" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Is sent to the host of `url` only, never to where that redirects. */
  readonly authorization: string | undefined;
}

/** An answer, and the URL that it came from, after redirects. */
export interface RegistryAnswer extends FetchedAnswer {
  readonly url: string;
}

/**
 * Sends a request, and follows redirects; only within a host do they keep the authorization. Resolves with whatever
 * answer is no redirect. Rejects with LookupError if there is none, or a redirect must not be followed.
 */
export async function exchange(conversation: Conversation, asked: Asked): Promise<RegistryAnswer> {
  let { url, authorization } = asked;
  for (let redirects = 0; ; redirects += 1) {
    const response = await send(conversation, { ...asked, url, authorization });
    const location = response.headers.get("location");
    if (location === undefined || ![301, 302, 303, 307, 308].includes(response.status) || asked.method === "POST")
      return response;
    await response.cancel();
    if (redirects === MOST_REDIRECTS)
      throw lookupError("invalid", `${nameOf(conversation)} redirects more than ${MOST_REDIRECTS} times`);
    const next = await checkedTarget(conversation, location, url);
    if (next.origin !== new URL(url).origin) authorization = undefined;
    url = next.href;
  }
}

/**
 * Checks where a registry sends its client: to a redirect, or to the realm of a token. A host that nobody listed must
 * have TLS, and none of its addresses may be internal, unless the registry's own is too (GitLab, Harbor and others have
 * their tokens and layers next door). TLS makes a name that resolves otherwise a moment later useless: who is there
 * then has no certificate for it. Rejects with LookupError.
 */
export async function checkedTarget(
  { source, reach, signal, sent }: Conversation,
  location: string,
  base: string = source.origin,
): Promise<URL> {
  const own = new URL(source.origin);
  const url = URL.canParse(location, base) ? new URL(location, base) : undefined;
  const refused = (why: string, remedy?: string) =>
    lookupError("invalid", `${source.host} refers to ${redactSecrets(redactUrl(location), sent)}, ${why}`, { remedy });
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw refused("which is no URL to follow");
  if (url.origin === own.origin) return url;
  if (url.protocol !== "https:") throw refused("which has no TLS", "set the registry's external URL to https");
  if (isListed(url.host, reach.policy)) return url;
  const isProxied = proxyFor(url.origin, reach.env) !== undefined;
  const address = await internalAddressOf(url.hostname, isProxied, signal);
  if (address === undefined || (await internalAddressOf(own.hostname, isProxied, signal)) !== undefined) return url;
  throw refused(`whose address ${address} is internal; if that is right, name ${url.host} in --registries`);
}

/** Returns the registry's name for people: of a mirror, also what it mirrors. */
export function nameOf({ source: { host, mirrors } }: Pick<Conversation, "source">): string {
  return mirrors === undefined || mirrors === host ? host : `${host}, the mirror of ${mirrors},`;
}

/** Returns a server's name for people: also the registry's, if that has another name or refers to the server. */
export function serverOf({ source }: Pick<Conversation, "source">, url: string): string {
  const { host, origin } = new URL(url);
  if (host === source.host) return host;
  return origin === source.origin ? `${source.host} (${host})` : `${host}, to which ${source.host} refers,`;
}

async function send(
  conversation: Conversation,
  { method, url, headers, body, authorization }: Asked,
): Promise<RegistryAnswer> {
  const { reach, signal } = conversation;
  if (authorization !== undefined) conversation.sent.push(...secretsIn(authorization));
  // so that no small answer becomes a large one
  const all = { "accept-encoding": "identity", ...headers, ...(authorization !== undefined && { authorization }) };
  try {
    const answer = await fetchWithin(url, {
      method,
      headers: Object.entries(all),
      content: body,
      decompress: true, // some may not heed that
      tls: reach.ca && { ca: [...reach.ca] },
      proxy: proxyFor(url, reach.env),
      signal,
    });
    conversation.isAnswered = true;
    return { ...answer, url };
  } catch (error) {
    throw toLookupError(error, conversation, url);
  }
}

/** Returns the --registry-mirror by which a registry is asked without TLS; undefined for a server that it refers to. */
function plainMirror({ source: { host, origin, mirrors = host } }: Conversation, url: string): string | undefined {
  return new URL(url).origin === origin ? `${mirrors}=http://${host}` : undefined;
}

/** What to do about a certificate if that is not to name a CA. */
const cures: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: "the server needs one for this name",
  CERT_HAS_EXPIRED: "renew it, or set this machine's clock",
  CERT_NOT_YET_VALID: "set this machine's clock",
};

/** Converts a failure of a request to `url`, or of reading its answer, into a LookupError. */
export function toLookupError(error: unknown, conversation: Conversation, url: string): LookupError {
  const { reach, signal, limitMs } = conversation;
  const { code = "", message: why } = error as RequestFailed;
  const proxy = proxyFor(url, reach.env);
  const plain = plainMirror(conversation, url);
  const server = serverOf(conversation, url);
  const shownProxy = proxy === undefined ? "" : `the proxy ${redactUrl(proxy)}`;
  const where = proxy === undefined ? server : `${server} through ${shownProxy}`;
  if (signal.aborted) return lookupError("timeout", `${where} did not answer within ${formatDuration(limitMs)}`);
  if (/CERT|ISSUER|SIGNATURE|TLS/.test(code))
    return lookupError("untrusted", `${where} is not trusted: ${why}`, code in cures ? { remedy: cures[code] } : {});
  // only the proxy itself is connected to
  if (proxy !== undefined && ["ECONNREFUSED", "ENOTFOUND"].includes(code))
    return lookupError("unreachable", `${shownProxy} cannot be reached: ${why}`, { remedy: "check HTTPS_PROXY" });
  const isPlain = code === "EPROTO" && plain !== undefined;
  const remedy = isPlain ? { remedy: `if it has no TLS: --registry-mirror ${plain}` } : {};
  return lookupError("unreachable", `${where} cannot be reached: ${why}`, remedy);
}
