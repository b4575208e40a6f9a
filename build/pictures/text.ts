import { COLUMNS, type Item, type Picture, rowsOf, type Tone } from "./scene.ts";

const bars: Readonly<Record<Tone, string>> = {
  app: "█",
  ebb: "▓",
  proxy: "▒",
  idle: "░",
  lost: "×",
  plain: "█",
  dim: "░",
};

/** Draws a picture as text: at most 64 columns, with the characters of boxes and blocks. */
export function drawText(picture: Picture): string {
  const canvas = Array.from({ length: rowsOf(picture) }, () => Array<string>(COLUMNS).fill(" "));
  const put = (column: number, row: number, characters: string): void => {
    const line = canvas[row] as string[];
    [...characters].forEach((character, at) => {
      if (column + at < 0 || column + at >= COLUMNS) throw new Error(`${picture.name}: no room for "${characters}"`);
      line[column + at] = character;
    });
  };
  for (const item of picture.items) draw(item, put);
  return canvas.map((line) => `${line.join("").trimEnd()}\n`).join("");
}

function draw(item: Item, put: (column: number, row: number, characters: string) => void): void {
  switch (item.kind) {
    case "text": {
      const shown = item.text.replaceAll("`", "");
      const [column, row] = item.at;
      return put(Math.round(column) - (item.style === "centred" ? Math.floor(shown.length / 2) : 0), row, shown);
    }
    case "box": {
      const { at, columns, rows } = item;
      const [column, row] = at;
      const edge = "─".repeat(columns - 2);
      put(column, row, `┌${edge}┐`);
      for (let inner = row + 1; inner < row + rows - 1; inner += 1) {
        put(column, inner, "│");
        put(column + columns - 1, inner, "│");
      }
      return put(column, row + rows - 1, `└${edge}┘`);
    }
    case "arrow": {
      const [[column, row], [toColumn, toRow]] = [item.from, item.to];
      if (row === toRow) return put(column, row, `├${"─".repeat(toColumn - column - 1)}▶`);
      put(column, row, "┬");
      for (let inner = row + 1; inner < toRow; inner += 1) put(column, inner, "│");
      return put(column, toRow, "▼");
    }
    case "bar": {
      const from = Math.round(item.at[0]);
      return put(from, item.at[1], bars[item.tone].repeat(Math.max(1, Math.round(item.to) - from)));
    }
    case "scale": {
      const ticks = item.ticks.map(Math.round);
      const [first = 0, last = 0] = [ticks[0], ticks.at(-1)];
      put(first, item.row, `├${"─".repeat(last - first - 1)}┤`);
      for (const tick of ticks.slice(1, -1)) put(tick, item.row, "┼");
    }
  }
}
