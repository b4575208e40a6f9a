// bun build/pictures/pictures.ts draws the pictures of the manual and the README, src/manual/pictures: each as SVG for
// light and dark, and as text for `ebb help`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { start } from "./start.ts";
import { stop } from "./stop.ts";
import { drawSvg, themeNames } from "./svg.ts";
import { drawText } from "./text.ts";
import { whichWay } from "./which-way.ts";

/** The folder of the pictures. */
export const folder = join(import.meta.dirname, "../../src/manual/pictures");

/** The content of each file, by its name. */
export const files: Readonly<Record<string, string>> = Object.fromEntries(
  [whichWay, stop, start].flatMap((picture) => [
    [`${picture.name}.txt`, drawText(picture)],
    ...themeNames.map((theme) => [`${picture.name}-${theme}.svg`, drawSvg(picture, theme)]),
  ]),
);

if (import.meta.main) for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
