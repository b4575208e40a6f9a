// A picture is described once, on a grid of characters, and drawn twice: as text (text.ts) and as SVG (svg.ts). In SVG a
// cell is wider than nearly every character, so what fits in the text fits in the SVG.

/** What an item stands for; `lost` is what fails. */
export type Tone = "plain" | "dim" | "app" | "ebb" | "proxy" | "idle" | "lost";

/** An item at a column and a row, from 0. A column may be a fraction: the text rounds it. */
export type Item =
  /** `code` stands between backticks. */
  | { readonly kind: "text"; readonly at: Point; readonly text: string; readonly tone: Tone; readonly style: Style }
  /** A frame: its lines go through the middle of its outer cells. */
  | { readonly kind: "box"; readonly at: Point; readonly columns: number; readonly rows: number }
  /** A line from the edge of a box, down or to the right, with an arrow head at its end. */
  | { readonly kind: "arrow"; readonly from: Point; readonly to: Point }
  | { readonly kind: "bar"; readonly at: Point; readonly to: number; readonly tone: Tone }
  /** A level line with a tick at each of these columns. */
  | { readonly kind: "scale"; readonly row: number; readonly ticks: readonly number[]; readonly tone: Tone };

export type Point = readonly [column: number, row: number];
export type Style = "normal" | "bold" | "centred";

export interface Picture {
  /** The names of its files begin with it. */
  readonly name: string;
  /** Says what it shows: for SVG's title. */
  readonly title: string;
  readonly items: readonly Item[];
}

/** The columns of every picture. */
export const COLUMNS = 64;

export function text(at: Point, content: string, tone: Tone = "plain", style: Style = "normal"): Item {
  return { kind: "text", at, text: content, tone, style };
}

export function bar(at: Point, to: number, tone: Tone): Item {
  return { kind: "bar", at, to, tone };
}

export function scale(row: number, ticks: readonly number[], tone: Tone = "dim"): Item {
  return { kind: "scale", row, ticks, tone };
}

/** Returns the number of rows of a picture. */
export function rowsOf({ items }: Picture): number {
  return 1 + Math.max(...items.map(lastRow));
}

function lastRow(item: Item): number {
  switch (item.kind) {
    case "box":
      return item.at[1] + item.rows - 1;
    case "arrow":
      return Math.max(item.from[1], item.to[1]);
    case "scale":
      return item.row;
    default:
      return item.at[1];
  }
}
