import { median, quantile } from "../statistics.ts";
import { number as precise, type Table } from "../table.ts";

/** A figure of all programs. */
export interface Row {
  /** What it is, with its unit. */
  readonly what: string;
  /** The measurements of each program, by its name. */
  readonly values: Values;
  readonly goals?: readonly Goal[];
}

export type Values = Readonly<Record<string, readonly number[]>>;

/**
 * A goal for ebb's median: a limit, or a factor or an addition to that of the program whose name begins with `beside`.
 */
export type Goal =
  | { readonly atMost: number }
  | { readonly times: number; readonly beside: string }
  | { readonly more: number; readonly beside: string };

/** The names of programs, which are those of the columns too. */
export const EBB = "ebb";
export const BARE = "bare Bun";

/** Reports whether a program is ebb, or another ebb beside it (`ebb-old=PATH`). */
export function isEbb({ name }: { readonly name: string }): boolean {
  return name.startsWith(EBB);
}

/** Makes the table of all figures of all programs, side by side. */
export function figuresTable(rows: readonly Row[], names: readonly string[], how: readonly string[]): Table {
  const cells = (row: Row) => names.map((name) => shown(row.values[name] ?? []));
  return {
    title: "start: what each pod pays for",
    shows: ["medians, minima in brackets", ...how],
    columns: ["", ...names],
    rows: rows.map((row) => [row.what, ...cells(row)]),
  };
}

/** Makes the table of the figures that have a goal: how far ebb is from it. */
export function goalsTable(rows: readonly Row[]): Table {
  return {
    title: "start: the goals",
    shows: ["ratio: of the medians, of the minima in brackets"],
    columns: ["", "ebb", "beside", "", "ratio", "more", "goal", "met"],
    rows: rows.flatMap((row) => (row.goals ?? []).map((goal) => [row.what, ...goalCells(row.values, goal)])),
  };
}

function goalCells(values: Values, goal: Goal): readonly string[] {
  const ours = values[EBB] ?? [];
  if ("atMost" in goal) {
    const isMet = median(ours) <= goal.atMost;
    return [number(median(ours)), "", "", "", "", `<= ${goal.atMost}`, verdict(isMet, ours)];
  }
  const name = Object.keys(values).find((each) => each.startsWith(goal.beside));
  const theirs = values[name ?? ""] ?? [];
  const ratio = median(ours) / median(theirs);
  const more = median(ours) - median(theirs);
  const text = "times" in goal ? `<= ${goal.times} x ${goal.beside}` : `<= ${goal.beside} + ${goal.more}`;
  if (name === undefined) return [number(median(ours)), "", "not given", "", "", text, "-"];
  const isMet = "times" in goal ? ratio <= goal.times : more <= goal.more;
  const ratios = `${number(ratio)} (${number(least(ours) / least(theirs))})`;
  return [number(median(ours)), number(median(theirs)), name, ratios, number(more), text, verdict(isMet, ours)];
}

function verdict(isMet: boolean, values: readonly number[]): string {
  if (values.length === 0) return "-";
  return isMet ? "yes" : "NO";
}

function shown(values: readonly number[]): string {
  if (values.length < 2) return number(median(values));
  return `${number(median(values))} (${number(least(values))})`;
}

function least(values: readonly number[]): number {
  return quantile(values, 0);
}

/** Formats a number, without a fraction if it is 100 or more, or whole. */
function number(value: number): string {
  return Math.abs(value) >= 100 || Number.isInteger(value) ? `${Math.round(value)}` : precise(value);
}
