import type { HttpTarget } from "./address.ts";

export type Header = readonly [name: string, value: string];

export interface HttpRequest {
  readonly method: string;
  readonly target: HttpTarget;
  readonly headers: readonly Header[];
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

/** The bytes of a request without a body (RFC 9112). Envoy wants HTTP/1.1 and a Host. */
export function encodeRequest({ method, target, headers }: HttpRequest): string {
  let text = `${method} ${target.path} HTTP/1.1\r\nHost: ${target.authority}\r\nUser-Agent: ebb\r\n`;
  if (method !== "GET" && method !== "HEAD") text += "Content-Length: 0\r\n";
  for (const [name, value] of headers) text += `${name}: ${value}\r\n`;
  return `${text}\r\n`;
}

/** Reads an HTTP/1.x answer (RFC 9112) to `method` from all bytes that came so far, as latin1 text; `isEnd`: no more will come. */
export function parseAnswer(text: string, isEnd: boolean, method = "GET"): Parsed {
  const partial: Parsed = isEnd
    ? garbage("the connection was closed before the answer was complete")
    : { kind: "partial" };
  if (!"HTTP/1.".startsWith(text.slice(0, 7))) return garbage(`not HTTP: ${excerpt(text)}`);
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return partial;
  const [statusLine = "", ...lines] = text.slice(0, headEnd).split("\r\n");
  const status = statusIn(statusLine);
  if (status === undefined) return garbage(`not HTTP: ${excerpt(statusLine)}`);
  const rest = text.slice(headEnd + 4);
  if (status < 200) return parseAnswer(rest, isEnd, method);
  const headers = parseHeaders(lines);
  const connection = headers.get("connection");
  const isKeptAlive = statusLine.startsWith("HTTP/1.1") && (connection === undefined || !/\bclose\b/i.test(connection));
  const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
  const body = hasBody ? parseBody(headers, rest, isEnd) : noBody;
  if (body.kind === "partial") return partial;
  if (body.kind === "garbage") return body;
  return {
    kind: "answer",
    answer: {
      status,
      headers,
      body: body.text,
      isReusable: isKeptAlive && !body.untilEnd,
    },
  };
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

type Body =
  | { readonly kind: "body"; readonly text: string; readonly untilEnd: boolean }
  | Exclude<Parsed, { kind: "answer" }>;

function parseHeaders(lines: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

const noBody: Body = { kind: "body", text: "", untilEnd: false };

function parseBody(headers: ReadonlyMap<string, string>, rest: string, isEnd: boolean): Body {
  const coding = headers.get("transfer-encoding");
  if (coding !== undefined && /\bchunked$/i.test(coding)) return parseChunks(rest);
  const length = headers.get("content-length");
  if (length === undefined) return isEnd ? { kind: "body", text: rest, untilEnd: true } : { kind: "partial" };
  if (!isDigits(length)) return garbage(`not HTTP: content-length ${excerpt(length)}`);
  if (rest.length < Number(length)) return { kind: "partial" };
  return { kind: "body", text: rest.slice(0, Number(length)), untilEnd: false };
}

function parseChunks(rest: string): Body {
  let text = "";
  let position = 0;
  for (;;) {
    const lineEnd = rest.indexOf("\r\n", position);
    if (lineEnd < 0) return { kind: "partial" };
    const size = /^([0-9a-f]{1,8})\s*(?:;.*)?$/i.exec(rest.slice(position, lineEnd))?.[1];
    if (size === undefined) return garbage(`not HTTP: chunk size ${excerpt(rest.slice(position, lineEnd))}`);
    const start = lineEnd + 2;
    const end = start + Number.parseInt(size, 16);
    if (end === start) {
      // the last chunk: trailers, if any, end with an empty line
      const isComplete = rest.startsWith("\r\n", start) || rest.includes("\r\n\r\n", start);
      return isComplete ? { kind: "body", text, untilEnd: false } : { kind: "partial" };
    }
    if (rest.length < end + 2) return { kind: "partial" };
    if (!rest.startsWith("\r\n", end)) return garbage("not HTTP: a chunk that is longer than it says");
    text += rest.slice(start, end);
    position = end + 2;
  }
}

function garbage(reason: string): Extract<Parsed, { kind: "garbage" }> {
  return { kind: "garbage", reason };
}

/** The first printable characters of what somebody else sent, on one line. */
export function excerpt(text: string, length = 60): string {
  const line = text.trim().replace(/[^\x20-\x7e]+/g, " ");
  return JSON.stringify(line.length > length ? `${line.slice(0, length)}...` : line);
}
