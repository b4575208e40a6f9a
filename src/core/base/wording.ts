import { formatHostPort } from "./host-port.ts";

/** `127.0.0.1:8080`, `[::]:80`, `unix:/path.sock`. */
export function describeAddress({ address, port }: { readonly address: string; readonly port: number | null }): string {
  if (port === null) return `unix:${address}`;
  return formatHostPort(address, port);
}

/** `1 request`, `2 requests`. */
export function counted(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}
