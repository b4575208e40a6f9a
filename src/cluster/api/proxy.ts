import { BlockList, isIP } from "node:net";
import type { Environment } from "../../shared/core/environment.ts";

/**
 * Returns the URL of the forward proxy for a server, as Go's net/http chooses it (golang.org/x/net/http/httpproxy):
 * HTTPS_PROXY or https_proxy (for http: HTTP_PROXY or http_proxy), unless NO_PROXY or no_proxy names the host. Returns
 * undefined for no proxy, which is always so for localhost and loopback addresses.
 */
export function proxyFor(server: string, env: Environment): string | undefined {
  const url = new URL(server);
  const name = url.protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY";
  const proxy = env[name] || env[name.toLowerCase()];
  if (!proxy || isLocal(hostOf(url))) return undefined;
  const exceptions = (env.NO_PROXY || env.no_proxy || "").split(",").map((text) => text.trim().toLowerCase());
  if (exceptions.some((exception) => exception !== "" && isException(exception, url))) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "").toLowerCase();
}

function isLocal(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function isException(exception: string, url: URL): boolean {
  if (exception === "*") return true;
  const host = hostOf(url);
  if (exception.includes("/")) return isInside(host, exception);
  const [, name = "", port] = /^(.*?)(?::(\d+))?$/.exec(isIP(exception) === 6 ? `${exception}:` : exception) ?? [];
  const wanted = isIP(exception) === 6 ? exception : name.replace(/^\*?\./, ".");
  if (port !== undefined && port !== (url.port || (url.protocol === "https:" ? "443" : "80"))) return false;
  return wanted.startsWith(".") ? host.endsWith(wanted) : host === wanted || host.endsWith(`.${wanted}`);
}

function isInside(host: string, range: string): boolean {
  const [network = "", prefix] = range.split("/");
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family) return false;
  const list = new BlockList();
  try {
    list.addSubnet(network, Number(prefix), family === 4 ? "ipv4" : "ipv6");
  } catch {
    return false; // no such prefix: as Go has it, it names nothing
  }
  return list.check(host, family === 4 ? "ipv4" : "ipv6");
}
