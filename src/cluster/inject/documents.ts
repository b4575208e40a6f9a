/**
 * Splits a text into its YAML or JSON documents. Joined, they are that text again. YAML documents begin with `---`;
 * JSON documents may follow each other directly, as kubectl allows.
 */
export function splitDocuments(text: string): readonly string[] {
  return pieces(text, yamlStarts(text)).flatMap((piece) => splitJson(piece) ?? [piece]);
}

/** Reports whether a YAML document has nothing but comments, directives and marks (`---`, `...`). */
export function isEmptyDocument(text: string): boolean {
  return text.split("\n").every((line) => /^(\ufeff?\s*(#[^\n]*)?|(---|\.\.\.)\s*(\s#[^\n]*)?|%[^\n]*)$/.test(line));
}

/**
 * Joins the texts of files to one YAML stream, and adds `---` between documents that would run together. Empty texts
 * are left out. If all are JSON, no `---` is added.
 */
export function joinTexts(texts: readonly string[]): string {
  const all = texts.filter((text) => text !== "");
  const isJson = all.every((text) => startsLikeJson(text));
  return all.reduce((joined, text) => {
    if (joined === "") return text;
    const before = joined.endsWith("\n") ? joined : `${joined}\n`;
    const next = text.replace(/^\ufeff/, "");
    if (next.startsWith("%")) return `${before}...\n${next}`;
    const isMarked = isJson || beginsWithMark(next);
    return before + (isMarked ? next : `---\n${next}`);
  }, "");
}

function startsLikeJson(text: string): boolean {
  return /^\ufeff?\s*\{/.test(text);
}

/** Reports whether `---` stands before all but comments and empty lines. */
function beginsWithMark(text: string): boolean {
  for (let start = 0; start < text.length; ) {
    const found = text.indexOf("\n", start);
    const end = found < 0 ? text.length : found;
    const line = text.slice(start, end);
    if (!/^\s*(#|$)/.test(line)) return /^---(\s|$)/.test(line);
    start = end + 1;
  }
  return false;
}

/** A line with `---` or `...`. */
const markers = /(?<![^\n])(---(?=\s|$)|\.\.\.[ \t]*(#[^\n]*)?\r?(\n|$))/g; // regexp: it looks at one character on each side

/**
 * Finds where documents start: at a line with `---`, or after a line with `...`. kubectl skips the byte order mark that a
 * file has brought along after `---`: what stands before it counts as an empty document.
 */
function yamlStarts(text: string): readonly number[] {
  const starts: number[] = [];
  for (const { 0: mark, index } of text.matchAll(markers)) {
    starts.push(mark.startsWith("---") ? index : index + mark.length);
    const next = text.indexOf("\n", index) + 1;
    if (mark.startsWith("---") && next > 0 && text[next] === "\ufeff") starts.push(next);
  }
  return starts;
}

function pieces(text: string, starts: readonly number[]): readonly string[] {
  const bounds = [0, ...starts, text.length];
  return bounds
    .slice(1)
    .map((end, at) => text.slice(bounds[at], end))
    .filter((piece) => piece !== "");
}

/**
 * Splits a text into the JSON objects that follow each other in it; undefined if it is something else, or a single
 * object.
 */
function splitJson(text: string): readonly string[] | undefined {
  if (!startsLikeJson(text)) return undefined;
  const values = pieces(text, jsonEnds(text));
  return values.length > 1 && values.every(isJson) ? values : undefined;
}

/** Finds the end of each outermost object, the white space after it included. */
function jsonEnds(text: string): readonly number[] {
  const ends: number[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    if (character === "{") depth += 1;
    if (character !== "}") continue;
    depth -= 1;
    if (depth === 0) ends.push(at + 1 + (/^\s*/.exec(text.slice(at + 1, at + 100))?.[0].length ?? 0));
  }
  return ends;
}

/** Finds the quote that closes the string; the text's end if none does. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text.replace(/^\ufeff/, ""));
    return true;
  } catch {
    return false;
  }
}
