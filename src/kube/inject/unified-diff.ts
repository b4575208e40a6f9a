import { lineEnd, lineStart } from "./yaml/places.ts";
import { applySplices, type Splice } from "./yaml/splice.ts";

/** Lines that are replaced by others; each with its line break. */
interface Change {
  /** The first line that goes, counted from 0. */
  readonly at: number;
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

/** Unchanged lines around each change. */
const CONTEXT = 3;

/**
 * Returns the lines of the unified diff that the splices make of a text, as `git apply` takes it; empty if nothing
 * changes. Made from the splices, it is fast for many megabytes.
 */
export function unifiedDiff(name: string, text: string, splices: readonly Splice[]): readonly string[] {
  const lines = linesOf(text);
  let shift = 0;
  const hunks = grouped(changesOf(text, splices)).flatMap((changes) => {
    const hunk = hunkOf(lines, changes, shift);
    for (const { removed, added } of changes) shift += added.length - removed.length;
    return hunk;
  });
  return hunks.length === 0 ? [] : [`--- a/${name}`, `+++ b/${name}`, ...hunks];
}

function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

function changesOf(text: string, splices: readonly Splice[]): readonly Change[] {
  let counted = 0;
  let line = 0;
  return regionsOf(text, splices).map(({ start, end, inside }) => {
    line += linesOf(text.slice(counted, start)).length;
    counted = start;
    const added = applySplices(text.slice(start, end), movedTo(start, inside));
    return withoutSame({ at: line, removed: linesOf(text.slice(start, end)), added: linesOf(added) });
  });
}

function movedTo(start: number, splices: readonly Splice[]): readonly Splice[] {
  return splices.map((splice) => ({ ...splice, from: splice.from - start, to: splice.to - start }));
}

/** A part of the text from one offset up to another, with the splices inside it. */
interface Region {
  readonly start: number;
  end: number;
  readonly inside: Splice[];
}

/** Groups splices into regions of whole lines; regions that touch become one. */
function regionsOf(text: string, splices: readonly Splice[]): readonly Region[] {
  const regions: Region[] = [];
  for (const splice of splices.toSorted((a, b) => a.from - b.from || a.to - b.to)) {
    const start = lineStart(text, splice.from);
    const end = isWholeLines(text, splice) ? splice.to : lineEnd(text, splice.to + 1);
    const last = regions.at(-1);
    if (last !== undefined && (start <= last.end || start <= wholeEnd(text, last))) {
      last.end = Math.max(last.end, end);
      last.inside.push(splice);
    } else regions.push({ start, end, inside: [splice] });
  }
  for (const region of regions) region.end = wholeEnd(text, region);
  return regions;
}

/**
 * Returns a region's end, moved to the end of a line: if a splice removes a line break, the next line belongs to the
 * region.
 */
function wholeEnd(text: string, { start, end, inside }: Region): number {
  const becomes = applySplices(text.slice(start, end), movedTo(start, inside));
  const isOpen = becomes !== "" && !becomes.endsWith("\n");
  return isOpen && end < text.length ? lineEnd(text, end + 1) : end;
}

function isWholeLines(text: string, { from, to, text: piece }: Splice): boolean {
  if (lineStart(text, to) !== to) return false;
  return piece === "" ? lineStart(text, from) === from : piece.endsWith("\n");
}

function withoutSame({ at, removed, added }: Change): Change {
  const least = Math.min(removed.length, added.length);
  let head = 0;
  while (head < least && removed[head] === added[head]) head += 1;
  let tail = 0;
  while (tail < least - head && removed.at(-1 - tail) === added.at(-1 - tail)) tail += 1;
  return {
    at: at + head,
    removed: removed.slice(head, removed.length - tail),
    added: added.slice(head, added.length - tail),
  };
}

/** Groups changes that are so near to each other that their context meets. */
function grouped(changes: readonly Change[]): readonly (readonly Change[])[] {
  const groups: Change[][] = [];
  for (const change of changes) {
    if (change.removed.length + change.added.length === 0) continue;
    const last = groups.at(-1)?.at(-1);
    if (last === undefined || change.at - endOf(last) > 2 * CONTEXT) groups.push([change]);
    else groups.at(-1)?.push(change);
  }
  return groups;
}

function endOf({ at, removed }: Change): number {
  return at + removed.length;
}

function hunkOf(lines: readonly string[], changes: readonly Change[], shift: number): readonly string[] {
  const start = Math.max(0, (changes[0] as Change).at - CONTEXT);
  const end = Math.min(lines.length, endOf(changes.at(-1) as Change) + CONTEXT);
  const body: string[] = [];
  let at = start;
  for (const change of changes) {
    body.push(...marked(" ", lines.slice(at, change.at)), ...marked("-", change.removed), ...marked("+", change.added));
    at = endOf(change);
  }
  body.push(...marked(" ", lines.slice(at, end)));
  const grown = changes.reduce((sum, { removed, added }) => sum + added.length - removed.length, 0);
  return [`@@ -${range(start, end - start)} +${range(start + shift, end - start + grown)} @@`, ...body];
}

/** Formats the lines of a hunk. They are counted from 1; of none, the one before is named. */
function range(start: number, count: number): string {
  return `${count === 0 ? start : start + 1},${count}`;
}

function marked(mark: string, lines: readonly string[]): readonly string[] {
  return lines.map(
    (line) => mark + (line.endsWith("\n") ? line.slice(0, -1) : `${line}\n\\ No newline at end of file`),
  );
}
