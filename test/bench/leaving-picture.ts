// bun test/bench/leaving-picture.ts: measures the ways of leaving and draws the README's picture, test/bench/leaving.svg.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Leaving, leaveAll, setting } from "./leaving.ts";
import type { Request } from "./leaving-load.ts";

const WIDTH = 860;
const LEFT = 12;
const LANE = 5;
const TITLE = 26;
const GAP = 16;
const FOOT = 24 + 16 * 3;

const legend = [
  "Green: answered in full. Red: lost. Line: the proxy is gone. Each lane is a client.",
  ...`Measured beside ${setting}.`.split("; "),
];

/** A timeline: a block for each way, a lane for each client, a bar for each request. */
export function draw(all: readonly Leaving[]): string {
  const seconds = Math.ceil(Math.max(...all.map(({ goneMs }) => goneMs)) / 1000) + 1;
  const x = (ms: number) => round(LEFT + (Math.max(0, ms) / (seconds * 1000)) * (WIDTH - 2 * LEFT));
  const lanes = Math.max(...all.flatMap(({ requests }) => requests.map(({ client }) => client))) + 1;
  const block = TITLE + lanes * LANE + GAP;
  const height = all.length * block + FOOT;
  const blocks = all.map((leaving, at) => drawBlock(leaving, { top: at * block, lanes, x }));
  const ticks = Array.from({ length: Math.floor(seconds / 5) + 1 }, (_, at) => at * 5);
  const axis = ticks.map((tick) => text(x(tick * 1000), height - FOOT + 14, `${tick} s`, 'class="dim"'));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="13">`,
    "<title>Leaving under load: requests answered and lost, and the time it takes</title>",
    "<style>text{fill:#24292f}.dim{fill:#57606a;font-size:11px}.ok{stroke:#2da44e}.lost{stroke:#cf222e}.gone{stroke:#24292f}" +
      "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#8b949e}.gone{stroke:#e6edf3}}</style>",
    ...blocks,
    ...axis,
    ...legend.map((line, at) => text(LEFT, height - 16 * (legend.length - at) + 10, line, 'class="dim"')),
    "</svg>\n",
  ].join("\n");
}

interface Place {
  readonly top: number;
  readonly lanes: number;
  readonly x: (ms: number) => number;
}

function drawBlock({ name, goneMs, requests }: Leaving, { top, lanes, x }: Place): string {
  const lost = requests.filter((request) => request.lost !== undefined);
  const answered = requests.filter((request) => request.lost === undefined);
  const bar = ({ client, start, end }: Request) => {
    const y = top + TITLE + client * LANE;
    return `M${x(start)} ${y}H${Math.max(x(end), x(start) + 1)}`;
  };
  const gone = x(goneMs);
  return [
    text(
      LEFT,
      top + 17,
      `${name}: ${lost.length} of ${requests.length} requests lost, gone after ${round(goneMs / 1000)} s`,
    ),
    path("ok", answered.map(bar).join(""), LANE - 2),
    path("lost", lost.map(bar).join(""), LANE - 2),
    path("gone", `M${gone} ${top + TITLE - LANE}V${top + TITLE + lanes * LANE}`, 2),
  ].join("\n");
}

function path(kind: string, d: string, width: number): string {
  return `<path class="${kind}" fill="none" stroke-width="${width}" d="${d}"/>`;
}

function text(x: number, y: number, content: string, attributes = ""): string {
  return `<text x="${x}" y="${y}" ${attributes}>${content.replaceAll("&", "&amp;")}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

if (import.meta.main) writeFileSync(join(import.meta.dirname, "leaving.svg"), draw(await leaveAll()));
