/** Returns the lines by which a completion proposes names to kubectl. ":4" says that no files follow (spf13/cobra). */
export function nameLines(names: readonly string[], typed: string, prefix: string): string {
  const good = names.filter((name) => name.startsWith(typed)).sort();
  return [...good.map((name) => prefix + name), ":4"].map((line) => `${line}\n`).join("");
}
