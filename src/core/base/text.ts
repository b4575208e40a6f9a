/**
 * Escapes each character that could move the cursor, or hide or reorder text at a terminal, as `\u001b`. Valid JSON stays the same
 * JSON.
 *
 * For text of others (names, annotations, answers) on its way to a terminal or log; the writers in system/ call it. Loops, because
 * the first line of a log is written during the start.
 */
export function printable(text: string): string {
  return escaped(text, true);
}

/** Escapes a text as `printable` does, and its line breaks too, so that one entry of a list, table or log stays one line. */
export function oneLine(text: string): string {
  return escaped(text, false);
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
/** The first half of tags (U+E0000 and after), which repeat ASCII invisibly. */
const TAGS = 0xdb40;

function escaped(text: string, hasLines: boolean): string {
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

/** Whether the character is a tab or part of a line break. */
function isLayout(text: string, at: number, code: number): boolean {
  return code === NEWLINE || code === TAB || (code === RETURN && text.charCodeAt(at + 1) === NEWLINE);
}

/** C0, DEL and C1; what is invisible; what changes the direction of text (Unicode's Cf, Zl, Zp; UTS 55 says what they do). */
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

/** Cuts a text after `most` characters, and says how many more there were. */
export function shortened(text: string, most: number): string {
  if (text.length <= most) return text;
  const half = text.charCodeAt(most - 1) >> 10 === 0xd800 >> 10 ? 1 : 0; // no half of a character
  return `${text.slice(0, most - half)}… (${text.length - most + half} more characters)`;
}

const LONGEST_LOGGED = 4096;

/** Bounds a value for a log line: long texts are cut, a list keeps its first items, a long object becomes text. */
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
