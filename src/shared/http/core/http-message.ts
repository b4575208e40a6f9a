import type { HttpTarget } from "../../core/address.ts";
import { errorTexts } from "../../core/system-error.ts";
import {
  excerpt,
  type Framing,
  framingOf,
  garbage,
  type Header,
  isDigits,
  MAX_HEAD,
  ofLength,
  PARTIAL,
  type Parsed,
  type Reading,
} from "./http-framing.ts";

export interface HttpRequest {
  readonly method: string;
  readonly target: HttpTarget;
  readonly headers: readonly Header[];
  /** The body; undefined for a request without one. */
  readonly content?: string | undefined;
}

/**
 * Encodes a request as HTTP/1.1 (RFC 9112), with Host, User-Agent, Content-Length (0 without a body, unless it is GET
 * or HEAD) and the credentials of the target's userinfo. The result holds secrets.
 */
export function encodeRequest({ method, target, headers, content }: HttpRequest): string {
  let text = `${method} ${target.path} HTTP/1.1\r\nHost: ${target.authority}\r\nUser-Agent: ebb\r\n`;
  if (content !== undefined) text += `Content-Length: ${Buffer.byteLength(content)}\r\n`;
  else if (method !== "GET" && method !== "HEAD") text += "Content-Length: 0\r\n";
  for (const [name, value] of headers) text += `${name}: ${value}\r\n`;
  const credentials = target.userinfo === undefined ? undefined : basicCredentials({ target, headers });
  if (credentials !== undefined) text += `${credentials[0]}: ${credentials[1]}\r\n`;
  return content === undefined ? `${text}\r\n` : `${text}\r\n${content}`;
}

/**
 * Returns the Authorization header for the target's userinfo (Basic, RFC 7617). Returns undefined if there is no
 * userinfo, or if `headers` has an Authorization already, as Go's net/http does.
 */
export function basicCredentials({ target, headers }: Pick<HttpRequest, "target" | "headers">): Header | undefined {
  if (target.userinfo === undefined) return undefined;
  for (const [name] of headers) if (name.toLowerCase() === "authorization") return undefined;
  return ["Authorization", `Basic ${btoa(percentDecoded(target.userinfo))}`];
}

/** Decodes `%41` and its like to bytes, as latin1 text. A `%` without two hexadecimal digits stays, as in curl. */
export function percentDecoded(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/**
 * Reads an HTTP/1.x response (RFC 9112) to a request with `method` from all bytes received so far, as latin1 text.
 * `isEnd` says that the connection has ended. To read piece by piece, use `createAnswerReader`.
 */
export function parseAnswer(text: string, isEnd: boolean, method = "GET"): Parsed {
  return createAnswerReader(method).take(text, isEnd);
}

/** A reader of one response that arrives in pieces. It looks at no byte twice, however many pieces there are. */
interface AnswerReader {
  /** Reads the next piece, as latin1 text. `isEnd` says that the connection has ended. */
  take(piece: string, isEnd: boolean): Parsed;
}

/** The bytes of a body that are kept if it goes to `onBody`. */
const KEPT = 1024;

/**
 * Creates a reader for one HTTP/1.x response to a request with `method` that arrives in pieces. It skips responses with
 * status 1xx. If `onBody` is given, it gets the body as it arrives, and the answer's `body` is only the first 1,024
 * bytes (KEPT).
 */
export function createAnswerReader(method = "GET", onBody?: (text: string) => void): AnswerReader {
  let rest = "";
  let head: Head | undefined;
  let body = "";
  const emit = (text: string): void => {
    if (onBody === undefined) body += text;
    else if (body.length < KEPT) body += text.slice(0, KEPT - body.length);
    onBody?.(text);
  };
  const read = (): Reading => {
    while (head === undefined) {
      const taken = takeHead(rest, method);
      if (typeof taken === "string") return taken === "" ? PARTIAL : garbage(taken);
      rest = rest.slice(taken.length);
      if (taken.head.status >= 200) head = taken.head;
    }
    const [reading, used] = head.framing.take(rest, emit);
    rest = rest.slice(used);
    return reading;
  };
  return {
    take(piece, isEnd) {
      rest += piece;
      const reading = read();
      if (reading.kind === "garbage") return reading;
      const isWhole = reading.kind === "whole" || (isEnd && head?.framing.isUntilEnd === true);
      if (!isWhole) return isEnd ? garbage(errorTexts.ECONNRESET) : PARTIAL;
      const { status, headers, isKeptAlive, framing } = head as Head;
      return { kind: "answer", answer: { status, headers, body, isReusable: isKeptAlive && !framing.isUntilEnd } };
    },
  };
}

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly isKeptAlive: boolean;
  readonly framing: Framing;
}

/**
 * Parses the head at the start of a text. Returns an empty string if it is not complete yet, or a string that says what
 * is wrong with it.
 */
function takeHead(text: string, method: string): { readonly head: Head; readonly length: number } | string {
  if (!"HTTP/1.".startsWith(text.slice(0, 7))) return `not HTTP: ${excerpt(text)}`;
  const end = text.indexOf("\r\n\r\n");
  if (end > MAX_HEAD || (end < 0 && text.length > MAX_HEAD))
    return `not HTTP: a head longer than ${MAX_HEAD / 1024} KiB`;
  if (end < 0) return "";
  const [statusLine = "", ...lines] = text.slice(0, end).split("\r\n");
  const status = statusIn(statusLine);
  if (status === undefined) return `not HTTP: ${excerpt(statusLine)}`;
  const headers = parseHeaders(lines);
  const connection = headers.get("connection");
  const isKeptAlive = statusLine.startsWith("HTTP/1.1") && (connection === undefined || !/\bclose\b/i.test(connection));
  const hasBody = method !== "HEAD" && status >= 200 && status !== 204 && status !== 304;
  const framing = hasBody ? framingOf(headers) : ofLength(0);
  if (typeof framing === "string") return framing;
  return { head: { status, headers, isKeptAlive, framing }, length: end + 4 };
}

/**
 * Returns the status of a line such as `HTTP/1.1 200 OK`, also without a reason (RFC 9112, section 4). Returns
 * undefined for anything else.
 */
function statusIn(line: string): number | undefined {
  const version = line.slice(0, 9);
  const code = line.slice(9, 12);
  const isWhole = line.length === 12 || line[12] === " ";
  if ((version !== "HTTP/1.1 " && version !== "HTTP/1.0 ") || !isWhole || code.length !== 3) return undefined;
  const status = isDigits(code) ? Number(code) : 0;
  return status >= 100 && status < 600 ? status : undefined;
}

// Lines with one name are one list, whose empty elements do not count (RFC 9110, sections 5.3 and 5.6.1).
function parseHeaders(lines: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    const before = headers.get(name) ?? "";
    headers.set(name, before === "" || value === "" ? before + value : `${before}, ${value}`);
  }
  return headers;
}
