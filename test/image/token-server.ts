import { createPrivateKey, randomUUID, sign, X509Certificate } from "node:crypto";
import type { KeyPair } from "../../src/cluster/certificates/held.ts";

/** The only user of a registry that wants to know who asks. */
export const user = { name: "me", password: "pa:ss wörd" };

interface TokenServerOptions {
  readonly address: string;
  readonly host: string;
  /** Its certificate and key, which also sign the tokens. */
  readonly serving: KeyPair;
}

/** What may be done with a repository: `public/app` by all, everything else by the user. */
function isAllowed(repository: string, action: string, isUser: boolean): boolean {
  return isUser || (action === "pull" && repository.startsWith("public/"));
}

/**
 * Starts a server of tokens for a registry: distribution's docs/content/spec/auth/token.md, oauth.md (for the refresh
 * token `refresh me`) and jwt.md.
 */
export function startTokenServer({ address, host, serving }: TokenServerOptions) {
  const server = Bun.serve({
    hostname: address,
    port: 0,
    tls: { cert: serving.cert, key: serving.key },
    async fetch(request) {
      const form = request.method === "POST" ? new URLSearchParams(await request.text()) : undefined;
      const asked = form ?? new URL(request.url).searchParams;
      const isUser = isKnown(request.headers.get("authorization"), form);
      if (isUser === undefined) return Response.json({ details: "incorrect username or password" }, { status: 401 });
      const scopes = asked.getAll("scope").flatMap((scope) => scope.split(" "));
      const token = tokenFor(scopes, isUser, serving);
      return Response.json(form === undefined ? { token } : { access_token: token, scope: scopes.join(" ") });
    },
  });
  return {
    realm: `https://${host}:${server.port}/token`,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** Reports whether it is the user who asks, or nobody; undefined if the credentials are wrong. */
function isKnown(authorization: string | null, form: URLSearchParams | undefined): boolean | undefined {
  if (form?.get("grant_type") === "refresh_token") return form.get("refresh_token") === "refresh me" || undefined;
  if (form?.get("grant_type") === "password")
    return (form.get("username") === user.name && form.get("password") === user.password) || undefined;
  if (authorization === null) return false;
  const given = Buffer.from(authorization.replace(/^Basic /, ""), "base64").toString();
  return given === `${user.name}:${user.password}` || undefined;
}

function tokenFor(scopes: readonly string[], isUser: boolean, { cert, key }: KeyPair): string {
  const access = scopes.flatMap((scope) => {
    const [, name = "", actions = ""] = /^repository:(.+):([^:]+)$/.exec(scope) ?? [];
    const allowed = actions.split(",").filter((action) => isAllowed(name, action, isUser));
    return name === "" ? [] : [{ type: "repository", name, actions: allowed }];
  });
  const now = Math.floor(Date.now() / 1000);
  const head = { typ: "JWT", alg: "ES256", x5c: [new X509Certificate(cert).raw.toString("base64")] };
  const claims = {
    iss: "test",
    sub: "",
    aud: "test",
    iat: now,
    nbf: now - 10,
    exp: now + 300,
    jti: randomUUID(),
    access,
  };
  const text = [head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString("base64url")).join(".");
  const signature = sign("sha256", Buffer.from(text), { key: createPrivateKey(key), dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}
