// The pages of the manual: Markdown, as src/manual has it.

/** Returns the title of a page, without `# `; empty if it has none. */
export function titleOf(page: string): string {
  return /^# (.*)$/m.exec(page)?.[1] ?? "";
}

/** Returns the first paragraph of a page as plain text on one line; empty if it has none. */
export function introOf(page: string): string {
  const intro = page.split(/\n{2,}/).find((block) => !/^[#!]/.test(block)) ?? "";
  return plainLinks(intro)
    .replaceAll(/\*\*|`/g, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}

/** Returns the names of the three pages that have a word most often, in any case of its letters. */
export function pagesWith(word: string, pages: Readonly<Record<string, string>>): readonly string[] {
  const counts = Object.entries(pages).map(([name, text]) => {
    const words = text.toLowerCase().split(/[^a-z0-9]+/);
    return { name, count: words.filter((one) => one === word.toLowerCase()).length };
  });
  const having = counts.filter(({ count }) => count > 0).sort((a, b) => b.count - a.count);
  return having.slice(0, 3).map(({ name }) => name);
}

/**
 * Returns the parts of a page for a terminal, by turns Markdown and the lines of a code block, indented by four. Code in
 * a sentence stands on one line, because Bun.markdown breaks none there.
 */
export function partsOf(page: string): readonly string[] {
  const shown = page.replaceAll(/^(<!--.*-->|!\[.*)\n/gm, "");
  const parts = shown.split(/(^```[\s\S]*?^```\n|(?:^ {4}.*\n)+)/m); // regexp: it reads only ebb's own pages
  return parts.map((part, at) => (at % 2 === 0 ? plainLinks(joinCode(part)) : indented(part)));
}

function joinCode(text: string): string {
  return text.replaceAll(/`[^`]+`/g, (code) => code.replaceAll(/\n */g, " "));
}

function indented(code: string): string {
  if (!code.startsWith("```")) return code;
  return code.replaceAll(/^```.*\n/gm, "").replaceAll(/^(?=.)/gm, "    ");
}

/**
 * Replaces each link by its text, with the call that shows its target if that is another page, or its path if it is
 * another file of ebb's repository. A text that is the title of the target stands alone.
 */
function plainLinks(text: string): string {
  return text.replaceAll(/\[([^[\]]*)\]\(([^()]*)\)/g, (_, shown: string, target: string) => {
    const [, page, file, anchor] = /^(?:([a-z-]+)\.md|\.\.\/\.\.\/([^#]+))(?:#(.*))?$/.exec(target) ?? [];
    if (page !== undefined) return shown === page ? shown : `${shown} (ebb help ${page})`;
    const isTitle =
      shown
        .toLowerCase()
        .replaceAll(/[^a-z ]/g, "")
        .replaceAll(" ", "-") === anchor;
    return file === undefined || isTitle ? shown : `${shown} (${file} in ebb's repository)`;
  });
}
