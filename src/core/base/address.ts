import { redactQuery } from "./redact.ts";

/** Where a connection goes. */
export type Address =
  | { readonly kind: "tcp"; readonly host: string; readonly port: number }
  | { readonly kind: "unix"; readonly path: string };

/** Where one HTTP request goes: the address, and what its first lines say. */
export interface HttpTarget {
  readonly address: Address;
  readonly isSecure: boolean;
  /** The Host header. */
  readonly authority: string;
  /** Path and query. */
  readonly path: string;
  /** `user:password` as the URL has it; undefined: it has none. It is sent as Basic credentials, and never shown. */
  readonly userinfo?: string;
}

/** Parses `http://host:port/path`, `https://...`, or `unix:/file.sock` (its path is then `/`); undefined for anything else. */
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

/** Returns the same server with another path. The path of a base such as `http://h:1/prefix/` is kept in front. */
export function withPath(base: HttpTarget, path: string): HttpTarget {
  return { ...base, path: withoutSlashes(base.path) + path };
}

/** Removes all slashes from the end of a text. */
export function withoutSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === "/") end -= 1;
  return text.slice(0, end);
}

/** `unix:/file.sock` or `unix:///file.sock`. */
export function parseUnix(text: string): Extract<Address, { kind: "unix" }> | undefined {
  if (!text.startsWith("unix:")) return undefined;
  const path = /^unix:(?:\/\/)?(\/.+)$/.exec(text)?.[1];
  return path === undefined ? undefined : { kind: "unix", path };
}

/**
 * Formats a URL for logs: `http://localhost:15020/quitquitquit`, `unix:/admin.sock /quitquitquit`. Userinfo and query values,
 * which may be secret, are left out.
 */
export function describeTarget(target: HttpTarget): string {
  const { address, path } = target;
  const query = path.indexOf("?");
  const shown = query < 0 ? path : path.slice(0, query) + redactQuery(path.slice(query));
  return address.kind === "unix" ? `unix:${address.path} ${shown}` : originOf(target) + shown;
}

/** Formats a URL whole, with userinfo and query: to be parsed or compared, never to be shown. */
export function exactUrl(target: HttpTarget): string {
  const { address, authority, path, isSecure, userinfo } = target;
  if (address.kind === "unix") return `unix:${address.path} ${path}`;
  if (userinfo === undefined) return originOf(target) + path;
  return `http${isSecure ? "s" : ""}://${userinfo}@${authority}${path}`;
}

/** Formats a URL's scheme, host and port: `https://host:8443`. */
export function originOf({ isSecure, authority }: HttpTarget): string {
  return `http${isSecure ? "s" : ""}://${authority}`;
}

/**
 * The addresses a host name stands for where no resolver is needed. `localhost` is both loopbacks: an IPv6-only pod's Envoy
 * admin listens on ::1 alone (istio#34358), and `scratch` images may have no /etc/hosts.
 */
export function hostsToDial(host: string): readonly string[] {
  return host === "localhost" ? ["127.0.0.1", "::1"] : [host];
}

/** Whether it is in this pod: a unix socket, or a loopback address. */
export function isLoopback(address: Address): boolean {
  return (
    address.kind === "unix" ||
    address.host === "localhost" ||
    address.host === "::1" ||
    /^(::ffff:7f|127\.)/.test(address.host)
  );
}
