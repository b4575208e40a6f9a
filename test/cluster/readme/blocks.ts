import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A block of code of the README. */
interface Block {
  /** The heading above it; "" before the first. */
  readonly section: string;
  /** A block between backticks with `yaml` (manifest), or indented: commands, or what they print (lines). */
  readonly kind: "manifest" | "lines";
  /** The text, without the indentation. */
  readonly text: string;
}

/** The blocks of the README. */
export const blocks: readonly Block[] = blocksIn("README.md");

/** Returns the blocks of a page, given its path in the repository. */
export function blocksIn(page: string): readonly Block[] {
  return blocksOf(readFileSync(join(import.meta.dirname, "..", "..", "..", page), "utf8"));
}

/**
 * Returns the blocks of a Markdown text but its drawings, which are between backticks without a language, and what
 * commands print, which output.test.ts compares.
 */
function blocksOf(markdown: string): readonly Block[] {
  const written = markdown.replace(/<!-- (\w+ output) -->[\s\S]*?<!-- \/\1 -->/g, "");
  return written.split(/^## /m).flatMap((part, index) => {
    const section = index === 0 ? "" : part.slice(0, part.indexOf("\n"));
    const manifests = [...part.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)];
    const lines = part.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/(?:^ {4}.*\n)+/gm);
    return [
      ...manifests.map(([, text = ""]): Block => ({ section, kind: "manifest", text })),
      ...[...lines].map(([text]): Block => ({ section, kind: "lines", text: text.replace(/^ {4}/gm, "") })),
    ];
  });
}

/** Returns the only block of a page that contains these words. @throws Error if there is none, or more than one */
export function blockWith(words: string, page = "README.md"): Block {
  const [block, ...more] = blocksIn(page).filter(({ text }) => text.includes(words));
  if (block === undefined || more.length > 0)
    throw new Error(`${page}: ${more.length + (block ? 1 : 0)} blocks with ${words}`);
  return block;
}

/** Replaces, in a block's text, the words that stand for the reader's own. @throws Error if one of them is not in it */
export function fill(text: string, own: Readonly<Record<string, string>>): string {
  return Object.entries(own).reduce((filled, [words, mine]) => {
    if (!filled.includes(words)) throw new Error(`no ${words} in:\n${text}`);
    return filled.replaceAll(words, mine);
  }, text);
}
