/** One of the bench's results. */
export interface Table {
  readonly title: string;
  /** Lines below the title: what was run, and how often. */
  readonly shows: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Formats a table as text: numbers are aligned to the right. */
export function formatTable({ title, shows, columns, rows }: Table): string {
  const lines = [columns, ...rows];
  const widths = columns.map((_, at) => Math.max(...lines.map((cells) => (cells[at] ?? "").length)));
  const format = (cells: readonly string[]) =>
    cells
      .map((cell, at) =>
        at === 0 || !isNumeric(rows, at) ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0),
      )
      .join("  ")
      .trimEnd();
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  return [title, ...shows.map((line) => `  ${line}`), format(columns), rule, ...rows.map(format), ""].join("\n");
}

function isNumeric(rows: Table["rows"], at: number): boolean {
  return rows.every((cells) => /^(-?[\d.]+.?|-|killed|)$/.test(cells[at] ?? ""));
}

/** Formats a number with two digits after the point, or three if it is less than 0.1; "-" if it is not finite. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "-";
  return value.toFixed(Math.abs(value) < 0.1 && value !== 0 ? 3 : 2);
}

/** Returns the head of a column of ratios to a rival's value. */
export function versus(what: string, rival: { readonly name: string } | undefined): string {
  return `${what}/${rival?.name ?? "-"}`;
}

/** The columns of what a figure has to reach, and whether it does; only ebb's rows have them. */
export const targetColumns = ["target", "met"] as const;
/** The cells of these columns in other rows. */
export const noTarget = ["", ""] as const;

/**
 * Returns the cells of these columns for an upper limit. A value of NaN could not be measured: it is neither met nor
 * missed.
 */
export function atMost(limit: number, unit: string, value: number): readonly [string, string] {
  const met = value <= limit ? "yes" : "NO";
  return [`<= ${limit}${unit}`, Number.isFinite(value) ? met : "-"];
}
