import type { HttpTarget } from "./address.ts";

export type Header = readonly [name: string, value: string];

export interface HttpRequest {
  readonly method: string;
  readonly target: HttpTarget;
  readonly headers: readonly Header[];
  /** Its body, as text. */
  readonly content?: string | undefined;
}

export interface HttpAnswer {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Whether the connection can carry another request. */
  readonly isReusable: boolean;
}

export type Parsed =
  | { readonly kind: "partial" }
  | { readonly kind: "answer"; readonly answer: HttpAnswer }
  | { readonly kind: "garbage"; readonly reason: string };

/** The bytes of a request (RFC 9112). Envoy wants HTTP/1.1 and a Host. */
export function encodeRequest({ method, target, headers, content }: HttpRequest): string {
  let text = `${method} ${target.path} HTTP/1.1\r\nHost: ${target.authority}\r\nUser-Agent: ebb\r\n`;
  if (content !== undefined) text += `Content-Length: ${Buffer.byteLength(content)}\r\n`;
  else if (method !== "GET" && method !== "HEAD") text += "Content-Length: 0\r\n";
  for (const [name, value] of headers) text += `${name}: ${value}\r\n`;
  const credentials = target.userinfo === undefined ? undefined : basicCredentials({ target, headers });
  if (credentials !== undefined) text += `${credentials[0]}: ${credentials[1]}\r\n`;
  return content === undefined ? `${text}\r\n` : `${text}\r\n${content}`;
}

/** What a URL's userinfo asks to be sent (RFC 7617), as Go's net/http has it: a header that is given comes first. */
export function basicCredentials({ target, headers }: Pick<HttpRequest, "target" | "headers">): Header | undefined {
  if (target.userinfo === undefined) return undefined;
  for (const [name] of headers) if (name.toLowerCase() === "authorization") return undefined;
  return ["Authorization", `Basic ${btoa(percentDecoded(target.userinfo))}`];
}

/** The bytes, as latin1 text. A `%` that encodes nothing stands for itself, as curl has it. */
function percentDecoded(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** Reads an HTTP/1.x answer (RFC 9112) to `method` from all bytes that came, as latin1 text; `isEnd`: no more will come. */
export function parseAnswer(text: string, isEnd: boolean, method = "GET"): Parsed {
  return createAnswerReader(method).take(text, isEnd);
}

/** Reads an answer piece by piece: no byte is looked at twice, however many pieces it comes in. */
export interface AnswerReader {
  /** What has come so far; `isEnd`: no more will come. */
  take(piece: string, isEnd: boolean): Parsed;
}

/** Bytes that the head of an answer may have, and what stands between chunks. */
const MAX_HEAD = 64 * 1024;
/** With `onBody` the body is handed on as it comes, and only its beginning is kept. */
const KEPT = 1024;

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
      if (!isWhole) return isEnd ? garbage("the connection was closed before the answer was complete") : PARTIAL;
      const { status, headers, isKeptAlive, framing } = head as Head;
      return { kind: "answer", answer: { status, headers, body, isReusable: isKeptAlive && !framing.isUntilEnd } };
    },
  };
}

const PARTIAL = { kind: "partial" } as const;
const WHOLE = { kind: "whole" } as const;

/** How far a body has come. */
type Reading = typeof PARTIAL | typeof WHOLE | Garbage;

interface Head {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly isKeptAlive: boolean;
  readonly framing: Framing;
}

/** Where a body ends. Takes of a text what it understands: how far it has come, and how many characters that were. */
interface Framing {
  readonly isUntilEnd: boolean;
  take(text: string, emit: (text: string) => void): readonly [Reading, number];
}

/** The head that a text begins with, and its length; else what is wrong with it, empty where it is not whole yet. */
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

/** `HTTP/1.1 200 OK`, also without a reason (RFC 9112, section 4); undefined for anything else. */
function statusIn(line: string): number | undefined {
  const version = line.slice(0, 9);
  const code = line.slice(9, 12);
  const isWhole = line.length === 12 || line[12] === " ";
  if ((version !== "HTTP/1.1 " && version !== "HTTP/1.0 ") || !isWhole || code.length !== 3) return undefined;
  const status = isDigits(code) ? Number(code) : 0;
  return status >= 100 && status < 600 ? status : undefined;
}

/** Not a regular expression, which each start would compile. */
function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++) if ((text[at] as string) < "0" || (text[at] as string) > "9") return false;
  return text !== "";
}

/** Lines of one name are one list, whose empty elements do not count (RFC 9110, sections 5.3 and 5.6.1). */
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

function framingOf(headers: ReadonlyMap<string, string>): Framing | string {
  const coding = headers.get("transfer-encoding");
  if (coding !== undefined && /(^|,)[ \t]*chunked$/i.test(coding)) return inChunks();
  const length = headers.get("content-length");
  if (length === undefined) return untilEnd;
  return isDigits(length) ? ofLength(Number(length)) : `not HTTP: content-length ${excerpt(length)}`;
}

const untilEnd: Framing = {
  isUntilEnd: true,
  take(text, emit) {
    emit(text);
    return [PARTIAL, text.length];
  },
};

function ofLength(length: number): Framing {
  let left = length;
  return {
    isUntilEnd: false,
    take(text, emit) {
      const used = Math.min(left, text.length);
      left -= used;
      if (used > 0) emit(text.slice(0, used));
      return [left === 0 ? WHOLE : PARTIAL, used];
    },
  };
}

/** Bytes of the line with a chunk's size. */
const MAX_SIZE_LINE = 4096;

function inChunks(): Framing {
  /** Of the chunk under way, with the line break after it; undefined: its size comes next; 0: what comes is the trailer. */
  let left: number | undefined;
  return {
    isUntilEnd: false,
    take(text, emit) {
      let at = 0;
      for (;;) {
        if (left === 0) return [trailerIn(text.slice(at)), at];
        if (left === undefined) {
          const size = takeSize(text, at);
          if (typeof size === "string") return [size === "" ? PARTIAL : garbage(size), at];
          at = size.end;
          left = size.bytes === 0 ? 0 : size.bytes + 2;
          continue;
        }
        const used = Math.min(left - 2, text.length - at);
        if (used > 0) emit(text.slice(at, at + used));
        at += Math.max(0, used);
        left -= Math.max(0, used);
        if (left > 2 || text.length < at + 2) return [PARTIAL, at];
        if (!text.startsWith("\r\n", at)) return [garbage("not HTTP: a chunk that is longer than it says"), at];
        at += 2;
        left = undefined;
      }
    },
  };
}

/** The size of the chunk that begins here; else what is wrong with it, empty where it is not whole yet. */
function takeSize(text: string, at: number): { readonly bytes: number; readonly end: number } | string {
  const end = text.indexOf("\r\n", at);
  if (end < 0 && text.length - at <= MAX_SIZE_LINE) return "";
  const line = text.slice(at, end < 0 ? text.length : end);
  const size = line.length > MAX_SIZE_LINE ? undefined : /^([0-9a-f]{1,8})\s*(?:;.*)?$/i.exec(line)?.[1];
  if (size === undefined) return `not HTTP: chunk size ${excerpt(line)}`;
  return { bytes: Number.parseInt(size, 16), end: end + 2 };
}

/** After the last chunk: trailers, if any, end with an empty line. */
function trailerIn(text: string): Reading {
  if (text.startsWith("\r\n") || text.includes("\r\n\r\n")) return WHOLE;
  return text.length > MAX_HEAD ? garbage(`not HTTP: a trailer longer than ${MAX_HEAD / 1024} KiB`) : PARTIAL;
}

type Garbage = Extract<Parsed, { kind: "garbage" }>;

function garbage(reason: string): Garbage {
  return { kind: "garbage", reason };
}

const LONGEST_LOOK = 4096;

/** The first printable characters of what somebody else sent, on one line. */
export function excerpt(text: string, length = 60): string {
  const line = text
    .trim()
    .slice(0, LONGEST_LOOK)
    .replace(/[^\x20-\x7e]+/g, " ");
  return JSON.stringify(line.length > length ? `${line.slice(0, length)}...` : line);
}
