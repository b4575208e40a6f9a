import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A block of code of the README. */
export interface Block {
  /** The heading that it is under. */
  readonly section: string;
  /** Between backticks with `yaml`; or lines that are indented: commands, or what they print. */
  readonly kind: "manifest" | "lines";
  /** Without the indentation. */
  readonly text: string;
}

const path = join(import.meta.dirname, "..", "..", "..", "README.md");

export const blocks: readonly Block[] = blocksOf(readFileSync(path, "utf8"));

/** All but drawings: those are between backticks without a language. */
export function blocksOf(markdown: string): readonly Block[] {
  return markdown.split(/^## /m).flatMap((part, index) => {
    const section = index === 0 ? "" : part.slice(0, part.indexOf("\n"));
    const manifests = [...part.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)];
    const lines = part.replace(/^```[\s\S]*?^```$/gm, "").matchAll(/(?:^ {4}.*\n)+/gm);
    return [
      ...manifests.map(([, text = ""]): Block => ({ section, kind: "manifest", text })),
      ...[...lines].map(([text]): Block => ({ section, kind: "lines", text: text.replace(/^ {4}/gm, "") })),
    ];
  });
}

/** The block with these words in it. @throws Error where there is none, or more than one */
export function blockWith(words: string): Block {
  const [block, ...more] = blocks.filter(({ text }) => text.includes(words));
  if (block === undefined || more.length > 0)
    throw new Error(`README.md: ${more.length + (block ? 1 : 0)} blocks with ${words}`);
  return block;
}

/** A text with what stands for the reader's own in it. @throws Error where one of them is not there */
export function fill(text: string, own: Readonly<Record<string, string>>): string {
  return Object.entries(own).reduce((filled, [words, mine]) => {
    if (!filled.includes(words)) throw new Error(`README.md: no ${words} in:\n${text}`);
    return filled.replaceAll(words, mine);
  }, text);
}
