/**
 * Escapes each character that could move the cursor, or hide or reorder text at a terminal, in the form `\u001b`. Tabs
 * and line breaks stay. Valid JSON stays the same JSON.
 *
 * It makes text of others (names, annotations, answers) safe for a terminal or log; the writers in system/ call it.
 */
export function printable(text: string): string {
  return escaped(text, true);
}

/**
 * Escapes a text as `printable` does, and its tabs and line breaks too, so that an entry of a list or log stays on one
 * line.
 */
export function oneLine(text: string): string {
  return escaped(text, false);
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
/** The first UTF-16 unit of tag characters (U+E0000 and after), which repeat ASCII invisibly. */
const TAGS = 0xdb40;

function escaped(text: string, hasLines: boolean): string {
  // a loop, because the first line of a log is written during the start, which would have to compile an expression
  let result = "";
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    const isTag = at > 0 && text.charCodeAt(at - 1) === TAGS;
    if (!isTag && (!isUnprintable(code) || (hasLines && isLayout(text, at, code)))) continue;
    result += text.slice(from, at) + escapeOf(code);
    from = at + 1;
  }
  return from === 0 ? text : result + text.slice(from);
}

/** Reports whether the character is a tab or part of a line break. */
function isLayout(text: string, at: number, code: number): boolean {
  return code === NEWLINE || code === TAB || (code === RETURN && text.charCodeAt(at + 1) === NEWLINE);
}

/**
 * Reports whether a UTF-16 unit is a control character (C0, DEL, C1), invisible, or changes the direction of text
 * (Unicode's Cf, Zl, Zp; UTS 55 says what they do).
 */
function isUnprintable(code: number): boolean {
  if (code < 0x7f) return code < 0x20;
  if (code < 0x200b) return code < 0xa0 || code === 0xad || code === 0x61c || code === 0x180e;
  if (code < 0x2070) return code < 0x2010 || (code > 0x2027 && code < 0x202f) || code > 0x205f;
  return code === TAGS || code === 0xfeff || (code > 0xfff8 && code < 0xfffc);
}

function escapeOf(code: number): string {
  if (code === NEWLINE) return "\\n";
  if (code === TAB) return "\\t";
  if (code === RETURN) return "\\r";
  return `\\u${code.toString(16).padStart(4, "0")}`;
}

/**
 * Cuts a text after `most` characters (UTF-16 units) and appends how many more there were. A shorter text is unchanged.
 */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = text.charCodeAt(most - 1) >> 10 === 0xd800 >> 10 ? 1 : 0; // leaves no half of a surrogate pair
  return `${text.slice(0, most - half)}… (${text.length - most + half} more characters)`;
}

/** The characters that a value may take in a log line. */
const LONGEST_LOGGED = 4096;

/**
 * Returns a value for a log line that takes at most about `most` characters: a long text is cut, a list keeps its first
 * items, and a long object becomes its JSON, cut. What was cut is counted at the end.
 */
export function capped(value: unknown, most = LONGEST_LOGGED): unknown {
  if (typeof value === "string") return shortened(value, most);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return cappedList(value, most);
  const text = textOf(value);
  return text.length > most ? shortened(text, most) : value;
}

function cappedList(list: readonly unknown[], most: number): readonly unknown[] {
  let left = most;
  const end = list.findIndex((item) => {
    left -= textOf(item).length + 1;
    return left < 0;
  });
  if (end < 0) return list;
  const kept = end === 0 ? [shortened(textOf(list[0]), most)] : list.slice(0, end);
  const rest = list.length - kept.length;
  return rest === 0 ? kept : [...kept, `… (${rest} more)`];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Counts the line breaks of a text. */
export function linesIn(text: string): number {
  let lines = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

/**
 * Parses a command line to its words: a JSON array of strings, or words separated by white space. Returns undefined if
 * there are no words or the first is empty, and if words that are not JSON have quotes or backslashes, because no shell
 * reads them.
 */
export function parseCommandLine(text: string): readonly string[] | undefined {
  const words = text.trim().startsWith("[") ? parseArray(text) : plainWords(text);
  return words !== undefined && words.length > 0 && words[0] !== "" ? words : undefined;
}

function plainWords(text: string): readonly string[] | undefined {
  return /["'\\]/.test(text) ? undefined : text.split(/\s+/).filter((word) => word !== "");
}

function parseArray(text: string): readonly string[] | undefined {
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) && words.every((word) => typeof word === "string") ? words : undefined;
  } catch {
    return undefined;
  }
}

/** Splits a text at a separator. Removes blanks around the parts, and drops empty ones. */
export function splitBy(text: string, separator: string): readonly string[] {
  const parts: string[] = [];
  for (const part of text.split(separator)) if (part.trim() !== "") parts.push(part.trim());
  return parts;
}

/** Returns what stands after the last slash of a path, or of an image's name. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
