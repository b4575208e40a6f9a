// The manual's Markdown at a terminal: the headings, paragraphs, lists, tables and code that src/manual uses.

/** How a page is shown. */
export interface Look {
  /** The terminal's columns. */
  readonly width: number;
  /** Whether colours and bold type are used (ANSI escape sequences). */
  readonly isStyled: boolean;
}

type Block =
  | { readonly kind: "heading"; readonly text: string; readonly level: number }
  | { readonly kind: "code"; readonly lines: readonly string[] }
  | { readonly kind: "table"; readonly rows: readonly (readonly string[])[] }
  | { readonly kind: "item"; readonly mark: string; readonly text: string }
  | { readonly kind: "paragraph"; readonly text: string };

const CODE_INDENT = "    ";

/** Formats a page of the manual for a terminal, in lines of at most `width` columns unless a word or code is longer. */
export function renderMarkdown(text: string, look: Look): string {
  const rendered = blocksOf(text).map((block) => ({ block, text: renderBlock(block, look) }));
  return rendered
    .map(({ block, text }, at) => {
      const before = rendered[at - 1]?.block;
      const isTight = before === undefined || (before.kind === "item" && block.kind === "item");
      return `${isTight ? "" : "\n"}${text}\n`;
    })
    .join("");
}

/** Returns the title of a page of the manual, without `# `, or an empty text if it has none. */
export function titleOf(text: string): string {
  return /^# (.*)$/m.exec(text)?.[1] ?? "";
}

/** Returns the first paragraph of a page of the manual as plain text on one line, or an empty text if it has none. */
export function introOf(text: string): string {
  const intro = blocksOf(text).find(({ kind }) => kind === "paragraph");
  return intro?.kind === "paragraph" ? plain(intro.text) : "";
}

function blocksOf(text: string): readonly Block[] {
  const lines = text.split("\n").filter((line) => !/^(<!--.*-->|!\[.*)$/.test(line));
  const blocks: Block[] = [];
  for (let at = 0; at < lines.length; ) {
    const [block, next] = blockAt(lines, at);
    if (block !== undefined) blocks.push(block);
    at = next;
  }
  return blocks;
}

function blockAt(lines: readonly string[], at: number): readonly [Block | undefined, number] {
  const line = lines[at] as string;
  if (line.trim() === "") return [undefined, at + 1];
  const heading = /^(#+) (.*)$/.exec(line);
  if (heading !== null) {
    const [, marks = "", text = ""] = heading;
    return [{ kind: "heading", text, level: marks.length }, at + 1];
  }
  if (line.startsWith("```")) {
    const end = lines.indexOf("```", at + 1);
    return [{ kind: "code", lines: lines.slice(at + 1, end) }, end + 1];
  }
  if (line.startsWith(CODE_INDENT)) {
    const end = endOf(lines, at, (each) => each.startsWith(CODE_INDENT));
    return [{ kind: "code", lines: lines.slice(at, end).map((each) => each.slice(CODE_INDENT.length)) }, end];
  }
  if (line.startsWith("|")) {
    const end = endOf(lines, at, (each) => each.startsWith("|"));
    const rows = lines.slice(at, end).filter((each) => !/^[| -]+$/.test(each) || /^[| ]+$/.test(each));
    return [{ kind: "table", rows: rows.map(cellsOf) }, end];
  }
  const item = /^(- |\d+\. )(.*)$/.exec(line);
  const end = endOf(lines, at + 1, (each) => each.trim() !== "" && !/^(- |\d+\. |#|\||```)/.test(each));
  const rest = lines.slice(at + 1, end).map((each) => each.trim());
  if (item === null) return [{ kind: "paragraph", text: [line, ...rest].join(" ") }, end];
  const [, mark = "", first = ""] = item;
  return [{ kind: "item", mark, text: [first, ...rest].join(" ") }, end];
}

function endOf(lines: readonly string[], from: number, goesOn: (line: string) => boolean): number {
  let at = from;
  while (at < lines.length && goesOn(lines[at] as string)) at += 1;
  return at;
}

/** Splits a row of a table into its cells; `\|` ends no cell. */
function cellsOf(row: string): readonly string[] {
  return row
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.replaceAll("\\|", "|").trim());
}

function renderBlock(block: Block, look: Look): string {
  switch (block.kind) {
    case "heading":
      return styled(plain(block.text), block.level === 1 ? UNDERLINED : BOLD, look);
    case "code":
      return block.lines.map((line) => `${CODE_INDENT}${line}`.trimEnd()).join("\n");
    case "table":
      return renderTable(block.rows, look);
    case "item":
      return wrapped(block.text, look, block.mark, " ".repeat(block.mark.length));
    case "paragraph":
      return wrapped(block.text, look, "", "");
  }
}

const BOLD = "1";
const UNDERLINED = "1;4";
const CODE = "36";
const PROSE = "";

function styled(text: string, style: string, { isStyled }: Look): string {
  return isStyled && text !== "" && style !== PROSE ? `\x1b[${style}m${text}\x1b[0m` : text;
}

/** Removes marks from a text. A link becomes its text, with the call that shows its target if that is another page. */
function plain(text: string): string {
  return text
    .replace(/!?\[([^[\]]*)\]\(([^()]*)\)/g, (_, shown: string, target: string) => {
      const page = /^([a-z-]+)\.md(#.*)?$/.exec(target)?.[1];
      return page === undefined || shown === page ? shown : `${shown} (ebb help ${page})`;
    })
    .replaceAll("**", "")
    .replaceAll("`", "");
}

/**
 * Wraps and styles a text, with `first` before the first line and `rest` before others. Code keeps its colour across
 * lines.
 */
function wrapped(text: string, look: Look, first: string, rest: string): string {
  const lines: string[] = [];
  let line = first;
  let isCode = false;
  for (const word of text.replace(/!?\[[^[\]]*\]\([^()]*\)/g, (link) => plain(link)).split(/\s+/)) {
    const pieces = word.split("`");
    const shown = pieces
      .map((piece, at) => styled(plain(piece), isCode !== (at % 2 === 1) ? CODE : PROSE, look))
      .join("");
    if (pieces.length % 2 === 0) isCode = !isCode;
    const isEmpty = line === first || line === rest;
    if (!isEmpty && lengthOf(line) + 1 + lengthOf(shown) > look.width) {
      lines.push(line);
      line = rest + shown;
    } else line += (isEmpty ? "" : " ") + shown;
  }
  return [...lines, line].join("\n");
}

function lengthOf(text: string): number {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what styles a text has no width
  return text.replace(/\x1b\[[\d;]*m/g, "").length;
}

const GAP = 2;

/**
 * Formats a table with aligned columns, of which the last is wrapped; or, if the others need more than half the width,
 * as a block for each row.
 */
function renderTable(rows: readonly (readonly string[])[], look: Look): string {
  const [head = [], ...body] = rows;
  const widths = head.map((_, at) => Math.max(...rows.map((row) => plain(row[at] ?? "").length)));
  const left = widths.slice(0, -1).reduce((sum, width) => sum + width + GAP, 0);
  const isNarrow = left + (widths.at(-1) ?? 0) <= look.width || left <= look.width / 2;
  const shown = [head, ...body].filter(hasText);
  if (!isNarrow) return body.map((row) => rowAsBlock(row, head, look)).join("\n");
  return shown.map((row) => alignRow(row, { widths, left, isHead: row === head, look })).join("\n");
}

function hasText(row: readonly string[]): boolean {
  return row.some((cell) => cell !== "");
}

interface Columns {
  readonly widths: readonly number[];
  /** The terminal column at which the last column of the table begins. */
  readonly left: number;
  readonly isHead: boolean;
  readonly look: Look;
}

function alignRow(row: readonly string[], { widths, left, isHead, look }: Columns): string {
  const cells = row.map((cell) => (isHead ? styled(plain(cell), BOLD, look) : cell));
  const before = cells
    .slice(0, -1)
    .map((cell, at) => {
      const text = wrapped(cell, { ...look, width: Number.POSITIVE_INFINITY }, "", "");
      return text + " ".repeat(Math.max(0, (widths[at] ?? 0) + GAP - lengthOf(text)));
    })
    .join("");
  return wrapped(cells.at(-1) ?? "", look, before, " ".repeat(left)).trimEnd();
}

function rowAsBlock([term = "", ...cells]: readonly string[], [, ...names]: readonly string[], look: Look): string {
  const isOne = cells.length === 1;
  const indent = " ".repeat(CODE_INDENT.length);
  const texts = cells.flatMap((cell, at) => {
    if (cell === "") return [];
    const name = isOne || (names[at] ?? "") === "" ? "" : `${names[at]}: `;
    return [wrapped(`${name}${cell}`, look, indent, indent)];
  });
  return [wrapped(term, look, "", ""), ...texts].join("\n");
}
