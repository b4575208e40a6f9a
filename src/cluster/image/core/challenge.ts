/** A way to authenticate that a server offers. */
interface Challenge {
  /** In lower case: `bearer`, `basic`. */
  readonly scheme: string;
  /** By name in lower case: `realm`, `service`, `scope`, ... */
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";

/** The longest header that is read. */
const LONGEST = 8192;

/**
 * Parses WWW-Authenticate (RFC 9110, 11.6.1), one header or several joined by commas. Parameters are tokens or quoted
 * strings; a scheme's token68 is skipped. What cannot be read ends it: the challenges before that are returned.
 */
export function parseChallenges(header: string): readonly Challenge[] {
  const item = new RegExp(
    `[\\s,]*(?:(${TOKEN})\\s*=\\s*(?:(${TOKEN})(?=\\s*(?:,|$))|"((?:[^"\\\\]|\\\\.)*)")|(${TOKEN})(?=[\\s,]|$)(?!\\s*=)(?: +[A-Za-z0-9._~+/-]+=*(?=\\s*(?:,|$)))?)`,
    "y",
  );
  const challenges: { readonly scheme: string; readonly parameters: Map<string, string> }[] = [];
  const text = header.slice(0, LONGEST);
  for (let match = item.exec(text); match !== null; match = item.exec(text)) {
    const [, name, plain, quoted, scheme] = match;
    if (scheme !== undefined) challenges.push({ scheme: scheme.toLowerCase(), parameters: new Map() });
    else if (name !== undefined)
      challenges.at(-1)?.parameters.set(name.toLowerCase(), plain ?? quoted?.replaceAll(/\\(.)/g, "$1") ?? "");
  }
  return challenges;
}

/** Where a token is to be had, and for what (distribution, docs/content/spec/auth/token.md). */
export interface TokenSource {
  readonly realm: string;
  readonly service: string | undefined;
  /** `repository:library/nginx:pull` */
  readonly scopes: readonly string[];
}

/** Chooses how to authenticate: by a token, else by name and password. Returns undefined if nothing of it is offered. */
export function chooseChallenge(header: string, repository: string): TokenSource | "basic" | undefined {
  const challenges = parseChallenges(header);
  const bearer = challenges.find(({ scheme, parameters }) => scheme === "bearer" && parameters.has("realm"));
  if (bearer === undefined) return challenges.some(({ scheme }) => scheme === "basic") ? "basic" : undefined;
  const { parameters } = bearer;
  // Harbor names no scope where it asks for a token in general: without one, the token is for nothing
  const scopes = (parameters.get("scope") ?? "").split(" ").filter((scope) => scope !== "");
  return {
    realm: parameters.get("realm") ?? "",
    service: parameters.get("service"),
    scopes: scopes.length > 0 ? scopes : [`repository:${repository}:pull`],
  };
}
