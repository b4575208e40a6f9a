/** One of the bench's results. */
export interface Table {
  readonly title: string;
  /** What was run, and how often. */
  readonly shows: readonly string[];
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

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

/** Two digits after the point, three below a tenth. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return "-";
  return value.toFixed(Math.abs(value) < 0.1 && value !== 0 ? 3 : 2);
}

/** The head of a column of ratios to this rival's value. */
export function versus(what: string, rival: { readonly name: string } | undefined): string {
  return `${what}/${rival?.name ?? "-"}`;
}

/** What a figure has to reach: the cells of the columns `target` and `met`, which only ebb's rows have. */
export const targetColumns = ["target", "met"] as const;
export const noTarget = ["", ""] as const;

/** @param value not a number: it could not be measured */
export function atMost(limit: number, unit: string, value: number): readonly [string, string] {
  const met = value <= limit ? "yes" : "NO";
  return [`<= ${limit}${unit}`, Number.isFinite(value) ? met : "-"];
}
