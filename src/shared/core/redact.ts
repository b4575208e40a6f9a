/** The text that is shown in place of a secret. */
export const HIDDEN = "***";

/** Returns `***` for any text: the way to show an option whose whole value is secret. */
export function hidden(_: string): string {
  return HIDDEN;
}

/**
 * Returns `Name: ***` for a header line, or `***` if no header name stands before a colon, because all may be secret.
 */
export function redactHeader(text: string): string {
  const colon = text.indexOf(":");
  const name = text.slice(0, Math.max(colon, 0));
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name) ? `${name}: ${HIDDEN}` : HIDDEN;
}

/** Returns what is secret in an Authorization header: its credentials; of Basic ones also what they decode to. */
export function secretsIn(authorization: string): readonly string[] {
  const [, scheme = "", credentials = ""] = /^(\S+) (.+)$/s.exec(authorization) ?? [];
  if (scheme.toLowerCase() !== "basic") return [credentials];
  const decoded = Buffer.from(credentials, "base64").toString();
  return [credentials, decoded, decoded.slice(decoded.indexOf(":") + 1)];
}

/** Returns a text with `***` in the place of each secret that stands in it, also as a URL has it. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  const all = new Set(secrets.flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())]));
  const longestFirst = [...all].filter((secret) => secret !== "").toSorted((a, b) => b.length - a.length);
  return longestFirst.reduce((shown, secret) => shown.replaceAll(secret, HIDDEN), text);
}

/**
 * Returns a URL or path with `***` for userinfo and query values, safe to show. A method in front (`POST http://...`)
 * stays. If the text is not a URL, `***` also stands for whatever may be part of userinfo.
 */
export function redactUrl(text: string): string {
  const blank = Math.max(text.lastIndexOf(" "), text.lastIndexOf("\t"), text.lastIndexOf("\n"));
  const method = text.slice(0, blank + 1);
  const url = text.slice(blank + 1);
  const scheme = url.slice(0, schemeEnd(url));
  const isMethod = /^\+?[A-Za-z]*\s*$/.test(method);
  if (!isMethod && scheme === "") return HIDDEN;
  const rest = url.slice(scheme.length);
  const end = queryStart(rest);
  const place = redactPlace(rest.slice(0, end), scheme);
  return `${isMethod ? method : `${HIDDEN} `}${scheme}${place}${redactQuery(rest.slice(end))}`;
}

/** Returns a text with each URL in it (`scheme://...`, up to white space or a quote) redacted as by `redactUrl`. */
export function redactUrls(text: string): string {
  let result = "";
  let from = 0;
  for (let at = text.indexOf("://"); at >= 0; at = text.indexOf("://", from)) {
    let start = at;
    while (start > from && isSchemeCharacter(text.charCodeAt(start - 1))) start -= 1;
    let end = at;
    while (end < text.length && !isBoundary(text.charCodeAt(end))) end += 1;
    result += text.slice(from, start) + redactUrl(text.slice(start, end));
    from = end;
  }
  return result + text.slice(from);
}

/**
 * Redacts the values of a query, which begins with `?`, and a fragment: `?a=1&b#c` becomes `?a=***&b#***`. A name
 * without a value stays, as in `?graceful`.
 */
export function redactQuery(text: string): string {
  if (text === "") return "";
  if (text.startsWith("#")) return `#${HIDDEN}`;
  const hash = text.indexOf("#");
  const query = hash < 0 ? text : text.slice(0, hash);
  let result = "";
  let from = 0;
  for (let at = 0; at <= query.length; at += 1) {
    if (at < query.length && query[at] !== "&" && query[at] !== ";") continue;
    const part = query.slice(from, at);
    const equals = part.indexOf("=");
    const isShown = equals < 0 && !part.includes("@");
    result += (isShown ? part : part.slice(0, equals + 1) + HIDDEN) + (query[at] ?? "");
    from = at + 1;
  }
  return hash < 0 ? result : `${result}#${HIDDEN}`;
}

/** Returns the offset after `http://`, `+http://` or `unix:`, or 0 if there is no scheme. */
function schemeEnd(url: string): number {
  const colon = url.indexOf(":");
  if (colon < 0) return 0;
  if (url.startsWith("//", colon + 1)) return colon + 3;
  return /^(unix|file|tcp)$/i.test(url.slice(0, colon)) ? colon + 1 : 0;
}

function queryStart(text: string): number {
  let at = 0;
  while (at < text.length && text[at] !== "?" && text[at] !== "#") at += 1;
  return at;
}

/**
 * Redacts `host:port/path`. All before an `@`, wherever it is, may be userinfo, and so may all after a colon but a
 * port.
 */
function redactPlace(place: string, scheme: string): string {
  if (place.startsWith("/") && !scheme.endsWith("//")) return place; // a file
  const sign = place.lastIndexOf("@");
  if (scheme === "" && sign < 0 && !place.includes("//")) return place; // a word, or a host and its port
  const shown = place.slice(sign + 1);
  const slash = shown.indexOf("/");
  const authority = scheme === "" || slash < 0 ? shown : shown.slice(0, slash);
  return `${sign < 0 ? "" : `${HIDDEN}@`}${isHostPort(authority) ? shown : HIDDEN}`;
}

function isHostPort(text: string): boolean {
  return /^(\[[0-9A-Fa-f:.]*\]|[^:[\]]*)(:\d*)?$/.test(text);
}

function isSchemeCharacter(code: number): boolean {
  const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
  return isLetter || (code >= 0x30 && code <= 0x39) || code === 0x2b || code === 0x2d || code === 0x2e;
}

/** Reports whether a character ends a URL: white space, a control character, or a quotation mark, which URLs encode. */
function isBoundary(code: number): boolean {
  return code <= 0x20 || code === 0x22;
}
