import { labelsOf, layOut, legend, OPEN, periodOf } from "./layout.ts";
import type { Timeline } from "./timeline.ts";

const signs = { wait: "░", run: "━", drain: "▒", stop: "▓", quit: "█", open: OPEN } as const;
const SIGNS = /░+|━+|▒+|▓+|█+/g;
/** Parameters of SGR (ECMA-48). */
const colours: Readonly<Record<string, number>> = { "░": 33, "━": 32, "▒": 36, "▓": 35, "█": 34 };

/** Draws a timeline as lines of `width` columns. `style` colours a text. */
export function drawText(timeline: Timeline, width: number, style: (text: string, colour: number) => string) {
  const labels = labelsOf(timeline, Math.max(10, Math.floor(width / 3)));
  const left = Math.max(...labels.map(({ name }) => name.length)) + 1;
  const right = Math.max("exit".length, ...labels.map(({ exits }) => exits.length)) + 1;
  const columns = Math.max(20, width - left - right);
  const { ticks, rows } = layOut(timeline, { width: columns, bar: 1, digit: 1, tick: 10 });
  const line = (name: string, marks: readonly { readonly place: number; readonly text: string }[], exits: string) => {
    const cells: string[] = Array(columns).fill(" ");
    for (const { place, text } of marks) cells.splice(place, text.length, ...text);
    return `${name.padEnd(left)}${cells.join("")} ${exits}`.trimEnd();
  };
  const drawn = labels.map(({ name, exits }, at) => {
    const marks = (rows[at] ?? []).flatMap(({ phase, start, end, counts }) => [
      { place: start, text: signs[phase].repeat(end - start) },
      ...counts,
    ]);
    return line(name, marks, exits);
  });
  const items = (Object.keys(signs) as (keyof typeof signs)[]).map((kind) => `${signs[kind]} ${legend[kind]}`);
  const paint = (text: string) => text.replace(SIGNS, (run) => style(run, colours[run.slice(0, 1)] ?? 0));
  return [periodOf(timeline), line("", ticks, "exit"), ...[...drawn, items.join("  ")].map(paint)];
}
