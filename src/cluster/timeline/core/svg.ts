import { labelsOf, layOut, legend, OPEN, periodOf } from "./layout.ts";
import type { Timeline } from "./timeline.ts";

/** In pixels; a row has a name, and its bars below that. */
const [WIDTH, PAD, AXIS_Y, ROWS_Y, ROW, BAR, LEGEND_ROW] = [800, 12, 60, 70, 50, 18, 28];
/** The most characters of a name, on a narrow screen, where letters are larger. */
const LONGEST_NAME = 52;

/** The colours of light pages; all are GitHub's (Primer). As attributes, they reach viewers that read no styles. */
const fills: Readonly<Record<string, string>> = {
  paper: "#fff",
  wait: "#bf8700",
  run: "#2da44e",
  drain: "#0969da",
  stop: "#8250df",
  quit: "#bc4c00",
  name: "#24292f",
  dim: "#57606a",
  "dim end": "#57606a",
  count: "#fff",
};
const STYLE = `text{font:14px sans-serif}.end{text-anchor:end}.count{font-size:15px}
@media(max-width:560px){text{font-size:21px}.count{font-size:18px}}
@media(prefers-color-scheme:dark){.paper{fill:#0d1117}.name{fill:#e6edf3}.dim{fill:#9198a1}.count{fill:#fff}
.grid{stroke:#3d444d}.wait{fill:#9e6a03}.run{fill:#238636}.drain{fill:#1f6feb}.stop{fill:#8957e5}.quit{fill:#bd561d}}`;

/** Draws a timeline as an SVG document, for light and dark. */
export function drawSvg(timeline: Timeline): string {
  const title = periodOf(timeline);
  const labels = labelsOf(timeline, LONGEST_NAME);
  const { ticks, rows } = layOut(timeline, { width: WIDTH - 2 * PAD, bar: 4, digit: 11, tick: 110 });
  const bottom = ROWS_Y + rows.length * ROW;
  const height = bottom + PAD + 3 * LEGEND_ROW;
  const axis = ticks.flatMap(({ place, text }) => [
    `<path class="grid" stroke="#d0d7de" d="M${PAD + place} ${AXIS_Y - 12}V${bottom}"/>`,
    textAt(PAD + place + 4, AXIS_Y, text, "dim"),
  ]);
  const drawn = labels.flatMap(({ name, exits }, at) => {
    const y = ROWS_Y + at * ROW;
    const bars = (rows[at] ?? []).flatMap(({ phase, start, end, counts }) => [
      boxAt(PAD + start, y + 26, end - start, phase),
      ...counts.map(({ place, text }) => textAt(PAD + place + 1, y + 41, text, "count")),
    ]);
    const end = exits === "" ? [] : [textAt(WIDTH - PAD, y + 20, `exit ${exits}`, "dim end")];
    return [textAt(PAD, y + 20, name), ...end, ...bars];
  });
  const items = Object.entries(legend).flatMap(([kind, text], at) => {
    const [x, y] = [PAD + (at % 2) * (WIDTH / 2), bottom + PAD + Math.floor(at / 2) * LEGEND_ROW];
    const sign = kind === "open" ? textAt(x + 5, y + 15, OPEN) : boxAt(x, y, BAR, kind);
    return [sign, textAt(x + BAR + 8, y + 15, text)];
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-family="sans-serif" font-size="14">
<title>${escaped(
    `${title}: ${labels
      .slice(0, 10)
      .map(({ name }) => name)
      .join(", ")}`,
  )}</title>
<style>${STYLE}</style>
<rect class="paper" fill="${fills.paper}" width="${WIDTH}" height="${height}"/>
${[textAt(PAD, 26, title), ...axis, ...drawn, ...items].join("\n")}
</svg>
`;
}

function boxAt(x: number, y: number, width: number, kind: string): string {
  return `<rect class="${kind}" fill="${fills[kind]}" x="${x}" y="${y}" width="${width}" height="${BAR}"/>`;
}

function textAt(x: number, y: number, text: string, kind = "name"): string {
  const anchor = kind.endsWith(" end") ? ' text-anchor="end"' : "";
  return `<text class="${kind}" fill="${fills[kind]}"${anchor} x="${x}" y="${y}">${escaped(text)}</text>`;
}

/** Escapes printable text for XML, which has no lone surrogates, no U+FFFE and no U+FFFF. */
function escaped(text: string): string {
  const valid = text.toWellFormed().replace(/[\ufffe\uffff]/g, "\ufffd");
  return valid.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
