// Formats the demo's text for a terminal: coloured, and with lines that end between words. In a pipe lines stay whole.

const { env, stdout } = process;
const isTerminal = stdout.isTTY === true && env.TERM !== "dumb";
const isColored = isTerminal && !env.NO_COLOR;

export type Style = keyof typeof styles;

/** ECMA-48, SGR. */
const styles = { bold: "1", dim: "2", red: "31", green: "32", yellow: "33", cyan: "36" } as const;

/** Colours a text, if stdout is a terminal that shows colours and NO_COLOR is not set. */
export function paint(style: Style, text: string): string {
  return isColored ? `\x1b[${styles[style]}m${text}\x1b[m` : text;
}

/** Breaks a text that begins after `columns` columns between words, and indents its further lines as far. */
export function wrapped(text: string, columns: number): string {
  const width = Math.max(20, (stdout.columns || 80) - columns);
  if (!isTerminal || text.length <= width) return text;
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const isFull = line !== "" && line.length + 1 + word.length > width;
    if (isFull) lines.push(line);
    line = isFull || line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line].join(`\n${" ".repeat(columns)}`);
}
