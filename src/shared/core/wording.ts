import { formatHostPort } from "./host-port.ts";

/** Formats the address of a socket: `127.0.0.1:8080`, `[::]:80`, or `unix:/path.sock` if `port` is null. */
export function describeAddress({ address, port }: { readonly address: string; readonly port: number | null }): string {
  if (port === null) return `unix:${address}`;
  return formatHostPort(address, port);
}

/** Formats a number with its noun in singular or plural: `1 request`, `2 requests`. */
export function counted(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}

/** Joins names with commas, for a sentence: the first 20, then the number of the others. */
export function joinNames(names: readonly string[]): string {
  return names.length <= MANY ? names.join(", ") : `${names.slice(0, MANY).join(", ")} and ${names.length - MANY} more`;
}

const MANY = 20;
