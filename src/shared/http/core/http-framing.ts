/** A header to send, its name as it is written. */
export type Header = readonly [name: string, value: string];

/** An HTTP response with status 200 or above. */
export interface HttpAnswer {
  readonly status: number;
  /** Names are in lower case. Values of several headers with the same name are joined by commas. */
  readonly headers: ReadonlyMap<string, string>;
  /** The body as text: latin1, a character for each byte, over plain HTTP; decoded as UTF-8 over HTTPS. */
  readonly body: string;
  /** Whether the connection can carry another request. */
  readonly isReusable: boolean;
}

/** The result of reading a response: more bytes are needed, it is complete, or it is not HTTP. */
export type Parsed =
  | { readonly kind: "partial" }
  | { readonly kind: "answer"; readonly answer: HttpAnswer }
  | { readonly kind: "garbage"; readonly reason: string };

export const PARTIAL = { kind: "partial" } as const;

const WHOLE = { kind: "whole" } as const;

/** The state of a body that is being read: more bytes are needed, it is complete, or it is not HTTP. */
export type Reading = typeof PARTIAL | typeof WHOLE | Garbage;

/** A reader of one body, which knows from the headers where the body ends. It keeps state between pieces. */
export interface Framing {
  /** Whether the end of the connection ends the body. */
  readonly isUntilEnd: boolean;
  /**
   * Reads as much of `text` as it can and passes the content to `emit`. Returns the body's state, and how many
   * characters were read: the next call must begin with the rest.
   */
  take(text: string, emit: (text: string) => void): readonly [Reading, number];
}

/** Reports whether a text consists of one or more digits. */
export function isDigits(text: string): boolean {
  // a loop, because each start would have to compile a regular expression
  for (let at = 0; at < text.length; at++) if ((text[at] as string) < "0" || (text[at] as string) > "9") return false;
  return text !== "";
}

/**
 * Returns the reader for the body that the headers announce, or a text that says what is wrong if they are not HTTP.
 */
export function framingOf(headers: ReadonlyMap<string, string>): Framing | string {
  const coding = headers.get("transfer-encoding");
  if (coding !== undefined && /(^|,)[ \t]*chunked$/i.test(coding)) return inChunks();
  const length = headers.get("content-length");
  if (length === undefined) return untilEnd;
  return isDigits(length) ? ofLength(Number(length)) : `not HTTP: content-length ${excerpt(length)}`;
}

/** Reads a body that ends with the connection. */
const untilEnd: Framing = {
  isUntilEnd: true,
  take(text, emit) {
    emit(text);
    return [PARTIAL, text.length];
  },
};

/** Creates a reader for a body of `length` bytes (Content-Length). */
export function ofLength(length: number): Framing {
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

/** The most bytes in the line with a chunk's size. */
const MAX_SIZE_LINE = 4096;

/**
 * Creates a reader for a body with `Transfer-Encoding: chunked` (RFC 9112, 7.1). It emits the bytes of the chunks,
 * without sizes and trailers.
 */
function inChunks(): Framing {
  /** Bytes left of the current chunk and its line break; undefined before a chunk's size; 0 in the trailer section. */
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

/**
 * Reads the line with a chunk's size that begins at an offset of `text`. `bytes` is the size, `end` the offset after
 * the line. Returns an empty text if the line is not complete yet, or a text that says what is wrong.
 */
function takeSize(text: string, at: number): { readonly bytes: number; readonly end: number } | string {
  const end = text.indexOf("\r\n", at);
  if (end < 0 && text.length - at <= MAX_SIZE_LINE) return "";
  const line = text.slice(at, end < 0 ? text.length : end);
  const size = line.length > MAX_SIZE_LINE ? undefined : /^([0-9a-f]{1,8})\s*(?:;.*)?$/i.exec(line)?.[1];
  if (size === undefined) return `not HTTP: chunk size ${excerpt(line)}`;
  return { bytes: Number.parseInt(size, 16), end: end + 2 };
}

/**
 * Reads what follows the last chunk: trailers, if any, up to an empty line. More than 64 KiB (MAX_HEAD) is not HTTP.
 */
function trailerIn(text: string): Reading {
  if (text.startsWith("\r\n") || text.includes("\r\n\r\n")) return WHOLE;
  return text.length > MAX_HEAD ? garbage(`not HTTP: a trailer longer than ${MAX_HEAD / 1024} KiB`) : PARTIAL;
}

type Garbage = Extract<Parsed, { kind: "garbage" }>;

/** Returns the result for bytes that are not HTTP, with the reason why. */
export function garbage(reason: string): Garbage {
  return { kind: "garbage", reason };
}

/** The characters of a text that `excerpt` looks at. */
const LONGEST_LOOK = 4096;

/**
 * Quotes the first `length` characters of what another program sent, on one line, for a message. Each run of characters
 * that are not printable ASCII becomes a blank; `...` at the end says that there was more.
 */
export function excerpt(text: string, length = 60): string {
  const line = text
    .trim()
    .slice(0, LONGEST_LOOK)
    .replace(/[^\x20-\x7e]+/g, " ");
  return JSON.stringify(line.length > length ? `${line.slice(0, length)}...` : line);
}

/** The most bytes in the head of a response, and in its trailers. */
export const MAX_HEAD = 64 * 1024;
