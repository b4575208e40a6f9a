import { redactQuery } from "./redact.ts";

/** An address to connect to: a TCP port of a host (an IPv6 address stands without brackets), or a unix socket. */
export type Address =
  | {
      readonly kind: "tcp";
      readonly host: string;
      readonly port: number;
      /** The IP addresses of a host that is a name, once it was looked up. */
      readonly ips?: readonly string[];
    }
  | { readonly kind: "unix"; readonly path: string };

/** The target of an HTTP request: the address to connect to, and what goes into the request line and headers. */
export interface HttpTarget {
  readonly address: Address;
  readonly isSecure: boolean;
  /** The Host header: host, and port unless it is the scheme's default; `localhost` for a unix socket. */
  readonly authority: string;
  /** Path and query, as they stand in the request line. */
  readonly path: string;
  /** `user:password`, percent-encoded, if the URL has it. It is sent as Basic credentials and must never be shown. */
  readonly userinfo?: string;
}

/**
 * Parses `http://host:port/path`, `https://...` or `unix:/file.sock`, whose path is then `/`. Returns undefined for
 * anything else, and for port 0.
 */
export function parseHttpTarget(text: string): HttpTarget | undefined {
  const unix = parseUnix(text);
  if (unix !== undefined)
    return {
      address: unix,
      isSecure: false,
      authority: "localhost",
      path: "/",
    };
  if (!isHttp(text)) return undefined;
  try {
    const url = new URL(text);
    if (url.port === "0") return undefined;
    const isSecure = url.protocol === "https:";
    const port = Number(url.port || (isSecure ? 443 : 80));
    const address: Address = {
      kind: "tcp",
      host: url.hostname.startsWith("[") ? url.hostname.slice(1, -1) : url.hostname,
      port,
    };
    const target = { address, isSecure, authority: url.host, path: url.pathname + url.search };
    const { username, password } = url;
    return username + password === "" ? target : { ...target, userinfo: `${username}:${password}` };
  } catch {
    return undefined; // not a URL: the caller says what it expected
  }
}

function isHttp(text: string): boolean {
  const [scheme = "", empty, host = ""] = text.split("/", 3);
  return empty === "" && host !== "" && ["http:", "https:"].includes(scheme.toLowerCase());
}

/**
 * Returns a copy of `base` with `path`, which begins with a slash, appended to its path. Slashes at the end of the
 * base's path are dropped: `http://h:1/prefix/` with `/ready` is `http://h:1/prefix/ready`.
 */
export function withPath(base: HttpTarget, path: string): HttpTarget {
  return { ...base, path: withoutSlashes(base.path) + path };
}

/** Returns a text without the slashes at its end. */
export function withoutSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end -= 1;
  return text.slice(0, end);
}

/** Parses `unix:/file.sock` or `unix:///file.sock`. Returns undefined for anything else, such as a relative path. */
export function parseUnix(text: string): Extract<Address, { kind: "unix" }> | undefined {
  if (!text.startsWith("unix:")) return undefined;
  const path = /^unix:(?:\/\/)?(\/.+)$/.exec(text)?.[1];
  return path === undefined ? undefined : { kind: "unix", path };
}

/**
 * Formats a target for logs: `http://localhost:15020/quitquitquit`, `unix:/admin.sock /quitquitquit`. Omits userinfo
 * and shows `***` for query values, because they may be secret.
 */
export function describeTarget(target: HttpTarget): string {
  const { address, path } = target;
  const query = path.indexOf("?");
  const shown = query < 0 ? path : path.slice(0, query) + redactQuery(path.slice(query));
  return address.kind === "unix" ? `unix:${address.path} ${shown}` : originOf(target) + shown;
}

/**
 * Formats a target in full, userinfo and query included. Use the result to parse or compare; never show or log it,
 * because it may hold secrets.
 */
export function exactUrl(target: HttpTarget): string {
  const { address, authority, path, isSecure, userinfo } = target;
  if (address.kind === "unix") return `unix:${address.path} ${path}`;
  if (userinfo === undefined) return originOf(target) + path;
  return `http${isSecure ? "s" : ""}://${userinfo}@${authority}${path}`;
}

/** Returns a target's scheme, host and port: `https://host:8443`. The port is absent if it is the scheme's default. */
function originOf({ isSecure, authority }: HttpTarget): string {
  return `http${isSecure ? "s" : ""}://${authority}`;
}

/**
 * Returns the IP addresses to try, in order, to connect: 127.0.0.1 and ::1 for `localhost`. For a name that was not
 * looked up it is the name.
 *
 * `localhost` is never looked up, because `scratch` images may have no /etc/hosts. It is both loopbacks, because the
 * Envoy admin of an IPv6-only pod listens on ::1 alone (istio#34358).
 */
export function hostsToDial({ host, ips }: Extract<Address, { kind: "tcp" }>): readonly string[] {
  return ips ?? (host === "localhost" ? ["127.0.0.1", "::1"] : [host]);
}

/** Returns the host of an address if it is a name that is to be looked up: neither `localhost` nor an IP address. */
export function nameIn(address: Address): string | undefined {
  if (address.kind === "unix" || address.host === "localhost" || address.ips !== undefined) return undefined;
  return isIp(address.host) ? undefined : address.host;
}

/** Reports whether a host is an IP address (or a form of IPv4 that inet_aton(3) takes), not a name. */
export function isIp(host: string): boolean {
  return /^[\d.]+$|:/.test(host);
}

/**
 * Reports whether an address is in this pod: a unix socket, `localhost`, or a loopback address (IPv4, IPv6 or mapped).
 */
export function isLoopback(address: Address): boolean {
  return (
    address.kind === "unix" ||
    address.host === "localhost" ||
    address.host === "::1" ||
    /^(::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}|127(\.\d{1,3}){3})$/.test(address.host)
  );
}
