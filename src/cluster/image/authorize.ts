import { objectOf, parseObject, textOf } from "../../shared/core/json.ts";
import { basicAuthorization } from "../api/identity.ts";
import { bodyOf, LARGEST_SHORT, refusalOf } from "./answer.ts";
import type { RegistryAuth } from "./core/auths.ts";
import type { TokenSource } from "./core/challenge.ts";
import { askedFor, loginRemedy, lookupError } from "./core/failure.ts";
import { checkedTarget, type RegistryRequest, sendRequest } from "./send-request.ts";
import { registryOf, type Session } from "./session.ts";

/**
 * Resolves with the Authorization for a challenge; undefined if there are no credentials for it. Rejects with
 * LookupError.
 */
export async function authorize(
  session: Session,
  challenge: TokenSource | "basic",
  auth: RegistryAuth | undefined,
): Promise<string | undefined> {
  if (challenge !== "basic") return `Bearer ${await readToken(session, challenge, auth)}`;
  return auth === undefined || auth.password === "" ? undefined : basicAuthorization(auth.username, auth.password);
}

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
  if (auth?.identityToken !== undefined) session.sent.push(auth.identityToken);
  const response = await sendRequest(session, tokenRequest(url, { service, scopes }, auth));
  const who = `the token server ${url.host} of ${registryOf(session)}`;
  const what = askedFor("a token", auth !== undefined);
  const login = loginRemedy(session.source.host, session.client.isAtDesk);
  if (response.status >= 300) throw await refusalOf(session, response, { who, what, image: undefined, login });
  const body = await bodyOf(session, response, LARGEST_SHORT);
  const { token, access_token: other } = objectOf(parseObject(body.toString()));
  const got = textOf(token) || textOf(other) || "";
  if (/^[\x21-\x7e]+$/.test(got)) return got;
  throw lookupError("invalid", `${who} sent no token`);
}

function tokenRequest(
  realm: URL,
  { service, scopes }: Pick<TokenSource, "service" | "scopes">,
  auth: RegistryAuth | undefined,
): RegistryRequest {
  if (auth?.identityToken !== undefined) {
    const grant = { grant_type: "refresh_token", refresh_token: auth.identityToken };
    const form = new URLSearchParams({ ...grant, service: service ?? "", client_id: "ebb", scope: scopes.join(" ") });
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return { method: "POST", url: realm.href, headers, body: `${form}`, authorization: undefined };
  }
  const url = new URL(realm);
  if (service !== undefined) url.searchParams.set("service", service);
  for (const scope of scopes) url.searchParams.append("scope", scope);
  url.searchParams.set("client_id", "ebb");
  const authorization = auth && basicAuthorization(auth.username, auth.password);
  return { method: "GET", url: url.href, headers: {}, authorization };
}
