/** Formats a host and a port: `127.0.0.1:8080`, `[::1]:8080`. */
export function formatHostPort(host: string, port: number | string): string {
  return `${bracketed(host)}:${port}`;
}

/** Puts an IPv6 address in brackets, as URLs have it. Returns any other host unchanged. */
function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Parses a port from 1 to 65535. Returns undefined for anything else. */
export function parsePort(text: string): number | undefined {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return isPort(port) ? port : undefined;
}

/** Reports whether a number is an integer from 1 to 65535. */
export function isPort(port: number): boolean {
  return Number.isInteger(port) && port > 0 && port < 65536;
}
