// bun test/bench/drain/drain-picture.ts drains under load in each way, and draws the manual's picture of it:
// test/bench/drain/drain.svg.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { drainUnderLoad } from "./drain.ts";
import type { InFlight } from "./drain-client.ts";
import { lossOf, setting, type UnderLoad } from "./drain-tables.ts";
import { shown } from "./drain-ways.ts";

/** GitHub's fonts, and its colours on white, as those of src/manual/pictures. */
const FAMILY = "-apple-system,'Segoe UI','Noto Sans',Helvetica,Arial,sans-serif";
const [paper, plain, dim, ebb, lost, idle] = ["#ffffff", "#1f2328", "#59636e", "#1a7f37", "#d1242f", "#818b98"];

const WIDTH = 664;
const LEFT = 12;
const LANE = 5;
const TITLE = 30;
const GAP = 16;
/** The time from which on the scale is shorter, because only idle connections are left. */
const BEND_MS = 10_000;
const BEND = LEFT + 0.68 * (WIDTH - 2 * LEFT);

const legend = linesOf(
  "Green: answered in full. Red: lost. Grey: an idle connection. Line: Envoy is gone. Each lane is a client. After 10 s " +
    `the scale is shorter. Measured with ${setting}.`,
);
const LEADING = 22;
const FOOT = 34 + LEADING * legend.length;

/** Breaks a text into lines that fit the picture. */
function linesOf(content: string): readonly string[] {
  return content.match(/\S.{0,80}(?= |$)/g) ?? [];
}

/** Draws a timeline as SVG: a block for each way, a lane for each client, a bar for each request. */
function draw(all: readonly UnderLoad[]): string {
  const endMs = 1000 * Math.ceil(Math.max(...all.map(endOf), BEND_MS) / 1000) + 1000;
  const x = (ms: number) =>
    round(
      ms < BEND_MS
        ? LEFT + (ms / BEND_MS) * (BEND - LEFT)
        : BEND + ((ms - BEND_MS) / (endMs - BEND_MS)) * (WIDTH - LEFT - BEND),
    );
  const lanes = Math.max(...all.flatMap(({ inFlight }) => inFlight.map(({ client }) => client))) + 1;
  const block = TITLE + lanes * LANE + GAP;
  const height = all.length * block + FOOT;
  const blocks = all.map((each, at) => drawBlock(each, { top: at * block, lanes, x }));
  const ticks = [0, 2, 4, 6, 8, 10, 30, 50, 70].filter((tick) => 1000 * tick < endMs);
  const axis = ticks.map((tick) => text(x(tick * 1000), height - FOOT + 16, `${tick} s`, 'class="dim"'));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="${FAMILY}" font-size="18">`,
    "<title>Draining under load: what is answered and what is lost, and the time it takes</title>",
    `<style>text{fill:${plain}}.dim{fill:${dim};font-size:16px}.ok{stroke:${ebb}}.lost{stroke:${lost}}.idle{stroke:${idle}}.bend{stroke:${idle};stroke-dasharray:3}.gone{stroke:${plain}}</style>`,
    `<rect width="${WIDTH}" height="${height}" rx="6" fill="${paper}"/>`,
    path("bend", `M${BEND} 0V${height - FOOT}`, 1),
    ...blocks,
    ...axis,
    ...legend.map((line, at) => text(LEFT, height - LEADING * (legend.length - at) + 10, line, 'class="dim"')),
    "</svg>\n",
  ].join("\n");
}

interface Place {
  readonly top: number;
  readonly lanes: number;
  readonly x: (ms: number) => number;
}

function drawBlock(drained: UnderLoad, { top, lanes, x }: Place): string {
  const { inFlight } = drained;
  const bar = ({ client, start, end }: InFlight) => {
    const y = top + TITLE + client * LANE;
    return `M${x(start)} ${y}H${Math.max(x(end), x(start) + 1)}`;
  };
  const bars = (kind: string, some: readonly InFlight[]) => path(kind, some.map(bar).join(""), LANE - 2);
  const gone = x(endOf(drained));
  const work = inFlight.filter(({ kind }) => kind !== "idle");
  return [
    text(LEFT, top + 20, titleOf(drained)),
    bars(
      "idle",
      inFlight.filter(({ kind }) => kind === "idle"),
    ),
    bars(
      "ok",
      work.filter(({ lost }) => lost === undefined),
    ),
    bars(
      "lost",
      work.filter(({ lost }) => lost !== undefined),
    ),
    path("gone", `M${gone} ${top + TITLE - LANE}V${top + TITLE + lanes * LANE}`, 2),
  ].join("\n");
}

function titleOf(drained: UnderLoad): string {
  const { count, lost } = lossOf(drained);
  const gone = `${drained.goneMs === null ? "killed" : "gone"} after ${round(endOf(drained) / 1000)} s`;
  return `${shown(drained.way) || drained.way.name}: ${lost} of ${count} lost, ${gone}`;
}

function endOf({ goneMs, way }: UnderLoad): number {
  return goneMs ?? way.graceMs;
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

writeFileSync(join(import.meta.dirname, "drain.svg"), draw(await drainUnderLoad()));
