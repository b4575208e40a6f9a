import { formatDuration } from "../../shared/core/duration.ts";
import { redactSecrets, redactUrl, secretsIn } from "../../shared/core/redact.ts";
import { type FetchedAnswer, fetchWithin } from "../../shared/http/fetch.ts";
import type { RequestFailed } from "../../shared/http/request-failed.ts";
import { proxyFor } from "../api/proxy.ts";
import { internalAddressOf } from "./addresses.ts";
import { type LookupError, lookupError } from "./core/failure.ts";
import { isListed } from "./core/sources.ts";
import { registryOf, type Session, serverOf } from "./session.ts";

const MOST_REDIRECTS = 5;

/** A request to the registry or its token server. */
export interface RegistryRequest {
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
export async function sendRequest(session: Session, request: RegistryRequest): Promise<RegistryAnswer> {
  let { url, authorization } = request;
  for (let redirects = 0; ; redirects += 1) {
    const response = await sendOnce(session, { ...request, url, authorization });
    const location = response.headers.get("location");
    if (location === undefined || ![301, 302, 303, 307, 308].includes(response.status) || request.method === "POST")
      return response;
    await response.cancel();
    if (redirects === MOST_REDIRECTS)
      throw lookupError("invalid", `${registryOf(session)} redirects more than ${MOST_REDIRECTS} times`);
    const next = await checkedTarget(session, location, url);
    if (next.origin !== new URL(url).origin) authorization = undefined;
    url = next.href;
  }
}

/**
 * Checks where a registry sends its client: to a redirect, or to the realm of a token. A host that nobody listed must
 * have TLS, and none of its addresses may be internal, unless the registry's own is too (GitLab, Harbor and others have
 * their tokens and layers next door). DNS rebinding gains nothing: the other host has no certificate for this name.
 * Rejects with LookupError.
 */
export async function checkedTarget(
  { source, client, signal, sent }: Session,
  location: string,
  base: string = source.origin,
): Promise<URL> {
  const own = new URL(source.origin);
  const url = URL.canParse(location, base) ? new URL(location, base) : undefined;
  const refused = (why: string, remedy?: string) =>
    lookupError("invalid", `${source.host} refers to ${redactSecrets(redactUrl(location), sent)}, ${why}`, { remedy });
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.username !== "" || url.password !== "")
    throw refused("which is not a URL to follow");
  if (url.origin === own.origin) return url;
  if (url.protocol !== "https:") throw refused("which has no TLS", "set the registry's external URL to https");
  if (isListed(url.host, client.policy)) return url;
  const isProxied = proxyFor(url.origin, client.env) !== undefined;
  const address = await internalAddressOf(url.hostname, isProxied, signal);
  if (address === undefined || (await internalAddressOf(own.hostname, isProxied, signal)) !== undefined) return url;
  throw refused(`whose address ${address} is internal; if that is right, name ${url.host} in --registries`);
}

async function sendOnce(
  session: Session,
  { method, url, headers, body, authorization }: RegistryRequest,
): Promise<RegistryAnswer> {
  const { client, signal } = session;
  if (authorization !== undefined) session.sent.push(...secretsIn(authorization));
  // so that no small answer becomes a large one
  const all = { "accept-encoding": "identity", ...headers, ...(authorization !== undefined && { authorization }) };
  try {
    const answer = await fetchWithin(url, {
      method,
      headers: Object.entries(all),
      content: body,
      decompress: true, // some may not heed that
      tls: client.ca && { ca: [...client.ca] },
      proxy: proxyFor(url, client.env),
      signal,
    });
    session.isAnswered = true;
    return { ...answer, url };
  } catch (error) {
    throw toLookupError(error, session, url);
  }
}

/** Returns the --registry-mirror by which a registry is asked without TLS; undefined for a server that it refers to. */
function plainMirror({ source: { host, origin, mirrors = host } }: Session, url: string): string | undefined {
  return new URL(url).origin === origin ? `${mirrors}=http://${host}` : undefined;
}

/** What to do about a certificate if that is not to name a CA. */
const cures: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID: "the server needs one for this name",
  CERT_HAS_EXPIRED: "renew it, or set this machine's clock",
  CERT_NOT_YET_VALID: "set this machine's clock",
};

/** Converts a failure of a request to `url`, or of reading its answer, into a LookupError. */
export function toLookupError(error: unknown, session: Session, url: string): LookupError {
  const { client, signal, limitMs } = session;
  const { code = "", message: why } = error as RequestFailed;
  const proxy = proxyFor(url, client.env);
  const plain = plainMirror(session, url);
  const server = serverOf(session, url);
  const shownProxy = proxy === undefined ? "" : `the proxy ${redactUrl(proxy)}`;
  const where = proxy === undefined ? server : `${server} through ${shownProxy}`;
  if (signal.aborted) return lookupError("timeout", `${where} did not answer within ${formatDuration(limitMs)}`);
  if (/CERT|ISSUER|SIGNATURE|TLS/.test(code))
    return lookupError("untrusted", `${where} is not trusted: ${why}`, code in cures ? { remedy: cures[code] } : {});
  // only the proxy itself is connected to
  if (proxy !== undefined && ["ECONNREFUSED", "ENOTFOUND"].includes(code))
    return lookupError("unreachable", `${shownProxy} cannot be reached: ${why}`, { remedy: "check HTTPS_PROXY" });
  const isPlain = code === "EPROTO" && plain !== undefined;
  const remedy = isPlain ? { remedy: `if it has no TLS, set --registry-mirror ${plain}` } : {};
  return lookupError("unreachable", `${where} cannot be reached: ${why}`, remedy);
}
