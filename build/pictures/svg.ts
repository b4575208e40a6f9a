import { COLUMNS, type Item, type Picture, rowsOf, type Style, type Tone } from "./scene.ts";

/** The size of a cell and of its text. On a phone 640 units are 400 px, and the text is 11 px high. */
const [WIDTH, HEIGHT, FONT, MARGIN] = [10, 25, 18, 12];

type Theme = Readonly<Record<Tone | "paper", string>>;

/** GitHub's colours. Text has a contrast of at least 4.5 on the paper, all else of 3 (WCAG 2.2 AA). */
export const themes = {
  light: {
    paper: "#ffffff",
    plain: "#1f2328",
    dim: "#59636e",
    app: "#0969da",
    ebb: "#1a7f37",
    proxy: "#8250df",
    idle: "#818b98",
    lost: "#d1242f",
  },
  dark: {
    paper: "#0d1117",
    plain: "#f0f6fc",
    dim: "#9198a1",
    app: "#4493f8",
    ebb: "#3fb950",
    proxy: "#ab7df8",
    idle: "#656c76",
    lost: "#f85149",
  },
} satisfies Record<string, Theme>;

export type ThemeName = keyof typeof themes;
export const themeNames: readonly ThemeName[] = ["light", "dark"];

/** GitHub's fonts. */
export const FAMILY = "-apple-system,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif";

/** Draws a picture as SVG. */
export function drawSvg(picture: Picture, name: ThemeName): string {
  const [width, height] = [COLUMNS * WIDTH + 2 * MARGIN, rowsOf(picture) * HEIGHT + 2 * MARGIN];
  const theme = themes[name];
  const size = `viewBox="${-MARGIN} ${-MARGIN} ${width} ${height}" width="${width}" height="${height}"`;
  const font = `font-family="${FAMILY}" font-size="${FONT}"`;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" ${size} ${font} role="img">`,
    `<title>${escaped(picture.title)}</title>`,
    `<rect x="${-MARGIN}" y="${-MARGIN}" width="${width}" height="${height}" rx="6" fill="${theme.paper}"/>`,
    ...picture.items.map((item) => draw(item, theme)),
    "</svg>",
  ].join("\n")}\n`;
}

function draw(item: Item, theme: Theme): string {
  switch (item.kind) {
    case "text":
      return drawText(item.at[0] * WIDTH, item.at[1] * HEIGHT + 18, item, theme);
    case "box": {
      const [x, y] = [middle(item.at[0], WIDTH), middle(item.at[1], HEIGHT)];
      const size = `width="${(item.columns - 1) * WIDTH}" height="${(item.rows - 1) * HEIGHT}"`;
      return `<rect x="${x}" y="${y}" ${size} rx="6" fill="none" stroke="${theme.plain}" stroke-width="2"/>`;
    }
    case "arrow": {
      const [x, y] = [middle(item.from[0], WIDTH), middle(item.from[1], HEIGHT)];
      const [toX, toY] = [middle(item.to[0], WIDTH), middle(item.to[1], HEIGHT)];
      const head = x === toX ? "m-5-7 5 7 5-7" : "m-7-5 7 5-7 5";
      return line(`M${x} ${y}L${toX} ${toY}${head}`, theme.dim);
    }
    case "bar": {
      const [from, to] = [round(item.at[0] * WIDTH), round(item.to * WIDTH)];
      const size = `width="${Math.max(3, to - from)}" height="17"`;
      return `<rect x="${from}" y="${item.at[1] * HEIGHT + 4}" ${size} rx="2" fill="${theme[item.tone]}"/>`;
    }
    case "scale": {
      const [xs, y] = [item.ticks.map((tick) => round(tick * WIDTH)), middle(item.row, HEIGHT)];
      const ticks = xs.map((x) => `M${x} ${y - 6}v12`).join("");
      return line(`M${xs[0]} ${y}H${xs.at(-1)}${ticks}`, theme[item.tone]);
    }
  }
}

interface Words {
  readonly text: string;
  readonly tone: Tone;
  readonly style: Style;
}

const styles: Readonly<Record<Style, string>> = {
  normal: "",
  bold: ' font-weight="600"',
  centred: ' text-anchor="middle"',
};

const CODE = `font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace" font-size="16.5"`;

function drawText(x: number, y: number, { text, tone, style }: Words, theme: Theme): string {
  const content = escaped(text).replaceAll(/`([^`]+)`/g, `<tspan ${CODE}>$1</tspan>`);
  return `<text x="${round(x)}" y="${y}" fill="${theme[tone]}"${styles[style]}>${content}</text>`;
}

function line(path: string, colour: string): string {
  return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`;
}

function middle(cell: number, size: number): number {
  return (cell + 0.5) * size;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escaped(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
