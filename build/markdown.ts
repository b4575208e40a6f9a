/** Formats a table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("");
}

/** Formats a list. */
export function list(items: readonly string[], indent = ""): string {
  return items.map((item) => `${indent}- ${item}\n`).join("");
}

/** Formats a text as code. */
export function code(text: string): string {
  return `\`${text}\``;
}

/** Returns what a page has between `<!-- NAME -->` and `<!-- /NAME -->`; undefined if it has no such place. */
export function contentOf(page: string, name: string): string | undefined {
  return placeOf(name).exec(page)?.[2];
}

/** Replaces what a page has between `<!-- NAME -->` and `<!-- /NAME -->`. Returns undefined if it has no such place. */
export function withContent(page: string, name: string, content: string): string | undefined {
  const place = placeOf(name);
  return place.test(page) ? page.replace(place, (_, start, __, end) => `${start}${content}${end}`) : undefined;
}

function placeOf(name: string): RegExp {
  return new RegExp(`(<!-- ${name} -->\n)([\\s\\S]*?)(<!-- /${name} -->)`);
}
