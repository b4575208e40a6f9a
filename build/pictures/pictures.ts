// bun build/pictures/pictures.ts draws the pictures of the manual and the README, src/manual/pictures: each as SVG for
// light and dark, and as text for `ebb help`; and the log of the run in `stop` as `ebb timeline` draws it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { drawSvg as drawTimeline } from "../../src/cluster/timeline/core/svg.ts";
import { readLine, timelineOf } from "../../src/cluster/timeline/core/timeline.ts";
import { start } from "./start.ts";
import { log, stop } from "./stop.ts";
import { drawSvg, themeNames } from "./svg.ts";
import { drawText } from "./text.ts";
import { whichWay } from "./which-way.ts";

/** The folder of the pictures. */
export const folder = join(import.meta.dirname, "../../src/manual/pictures");

/** The content of each file, by its name. */
export const files: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [whichWay, stop, start].flatMap((picture) => [
      [`${picture.name}.txt`, drawText(picture)],
      ...themeNames.map((theme) => [`${picture.name}-${theme}.svg`, drawSvg(picture, theme)]),
    ]),
  ),
  "timeline.svg": drawTimeline(timelineOf(log.flatMap((line) => readLine(line, "stop") ?? []))),
};

if (import.meta.main) for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
