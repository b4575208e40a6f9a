export type Header = readonly [name: string, value: string];

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

export const PARTIAL = { kind: "partial" } as const;

export const WHOLE = { kind: "whole" } as const;

/** How far a body has come. */
export type Reading = typeof PARTIAL | typeof WHOLE | Garbage;

/** Where a body ends. Takes of a text what it understands: how far it has come, and how many characters that were. */
export interface Framing {
  readonly isUntilEnd: boolean;
  take(text: string, emit: (text: string) => void): readonly [Reading, number];
}

/** Whether a text is one or more digits. A loop, because each start would have to compile a regular expression. */
export function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++) if ((text[at] as string) < "0" || (text[at] as string) > "9") return false;
  return text !== "";
}

/** Returns how the body of an answer is delimited, by its headers; a text, what is wrong, where that is no HTTP. */
export function framingOf(headers: ReadonlyMap<string, string>): Framing | string {
  const coding = headers.get("transfer-encoding");
  if (coding !== undefined && /(^|,)[ \t]*chunked$/i.test(coding)) return inChunks();
  const length = headers.get("content-length");
  if (length === undefined) return untilEnd;
  return isDigits(length) ? ofLength(Number(length)) : `not HTTP: content-length ${excerpt(length)}`;
}

export const untilEnd: Framing = {
  isUntilEnd: true,
  take(text, emit) {
    emit(text);
    return [PARTIAL, text.length];
  },
};

/** The framing of a body with a Content-Length. */
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

/** Bytes of the line with a chunk's size. */
export const MAX_SIZE_LINE = 4096;

/** Reads a body with `Transfer-Encoding: chunked` (RFC 9112, 7.1): emits the bytes of the chunks, without sizes and trailers. */
export function inChunks(): Framing {
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

/**
 * Reads the size line of the chunk at an offset. Returns a text where there is none: what is wrong, or empty where the line is not
 * whole yet.
 */
export function takeSize(text: string, at: number): { readonly bytes: number; readonly end: number } | string {
  const end = text.indexOf("\r\n", at);
  if (end < 0 && text.length - at <= MAX_SIZE_LINE) return "";
  const line = text.slice(at, end < 0 ? text.length : end);
  const size = line.length > MAX_SIZE_LINE ? undefined : /^([0-9a-f]{1,8})\s*(?:;.*)?$/i.exec(line)?.[1];
  if (size === undefined) return `not HTTP: chunk size ${excerpt(line)}`;
  return { bytes: Number.parseInt(size, 16), end: end + 2 };
}

/** Reads what follows the last chunk: trailers, if any, up to an empty line. */
export function trailerIn(text: string): Reading {
  if (text.startsWith("\r\n") || text.includes("\r\n\r\n")) return WHOLE;
  return text.length > MAX_HEAD ? garbage(`not HTTP: a trailer longer than ${MAX_HEAD / 1024} KiB`) : PARTIAL;
}

export type Garbage = Extract<Parsed, { kind: "garbage" }>;

/** Makes what a reader returns for bytes that are not HTTP; `reason` says why. */
export function garbage(reason: string): Garbage {
  return { kind: "garbage", reason };
}

export const LONGEST_LOOK = 4096;

/** Returns the first printable characters of what another program sent, on one line. */
export function excerpt(text: string, length = 60): string {
  const line = text
    .trim()
    .slice(0, LONGEST_LOOK)
    .replace(/[^\x20-\x7e]+/g, " ");
  return JSON.stringify(line.length > length ? `${line.slice(0, length)}...` : line);
}

/** Bytes that the head of an answer may have, and what stands between chunks. */
export const MAX_HEAD = 64 * 1024;
