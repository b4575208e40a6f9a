import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const folder = "src/manual";

/** Returns the paths of the manual's pages in the repository, in the order of their topics' names. */
export function manualPaths(): readonly string[] {
  const files = readdirSync(join(root, folder)).filter((file) => file.endsWith(".md"));
  return files.toSorted().map((file) => `${folder}/${file}`);
}

/** Reads the pages of the manual as `ebb help` has them: the Markdown of each by its topic, with drawings for pictures. */
export function manualPages(): Readonly<Record<string, string>> {
  return Object.fromEntries(
    manualPaths().map((path) => [basename(path, ".md"), withDrawings(readFileSync(join(root, path), "utf8"))]),
  );
}

/** Replaces each picture of a page by its drawing in text, as a block of code, or by nothing if it has none. */
function withDrawings(page: string): string {
  return page.replaceAll(/^!\[.*\]\((.+)\.svg\)\n\n/gm, (_, name) => {
    const path = join(root, folder, `${name}.txt`);
    return existsSync(path) ? `\`\`\`text\n${readFileSync(path, "utf8")}\`\`\`\n\n` : "";
  });
}
