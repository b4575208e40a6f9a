import { FILE_HEADERS_ONLY, formatPatch, type StructuredPatchHunk, structuredPatch } from "diff";
import { linesIn } from "./documents.ts";
import { lineEnd, lineStart } from "./yaml/places.ts";
import { applySplices, inOrder, type Splice } from "./yaml/splice.ts";

/** Unchanged lines around each change. */
const CONTEXT = 3;

/**
 * Returns the unified diff that the splices make of a text, as `git apply` takes it; empty if nothing changes. Only the
 * lines of the splices are compared, because `createTwoFilesPatch` takes a minute for two hundred workloads: its time
 * grows with the square of the number of changed lines.
 */
export function unifiedDiff(name: string, text: string, splices: readonly Splice[]): string {
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const hunks = grouped(changesOf(text, splices)).map((changes) => hunkOf(lines, changes));
  const names = { oldFileName: `a/${name}`, newFileName: `b/${name}`, oldHeader: undefined, newHeader: undefined };
  return hunks.length === 0 ? "" : formatPatch({ ...names, hunks }, FILE_HEADERS_ONLY);
}

/** Lists what changes, as hunks without unchanged lines. */
function changesOf(text: string, splices: readonly Splice[]): readonly StructuredPatchHunk[] {
  let [counted, oldLine, newLine] = [0, 0, 0];
  return regionsOf(text, splices).flatMap(({ start, end, inside }) => {
    const moved = inside.map((splice) => ({ ...splice, from: splice.from - start, to: splice.to - start }));
    const [before, unchanged] = [text.slice(start, end), linesIn(text.slice(counted, start))];
    const after = applySplices(before, moved);
    const { hunks } = structuredPatch("", "", before, after, undefined, undefined, { context: 0 });
    const [oldStart, newStart] = [oldLine + unchanged, newLine + unchanged];
    [counted, oldLine, newLine] = [end, oldStart + linesIn(before), newStart + linesIn(after)];
    return hunks.map((hunk) => ({ ...hunk, oldStart: hunk.oldStart + oldStart, newStart: hunk.newStart + newStart }));
  });
}

/** Whole lines, from one offset up to another, with the splices inside them. */
interface Region {
  readonly start: number;
  end: number;
  readonly inside: Splice[];
}

/** Groups splices into regions. Those that touch become one. */
function regionsOf(text: string, splices: readonly Splice[]): readonly Region[] {
  const regions: Region[] = [];
  for (const splice of inOrder(splices)) {
    const [start, end] = [lineStart(text, splice.from), lineEnd(text, splice.to + 1)];
    const last = regions.at(-1);
    if (last !== undefined && start <= last.end) {
      last.end = Math.max(last.end, end);
      last.inside.push(splice);
    } else regions.push({ start, end, inside: [splice] });
  }
  return regions;
}

/** Groups changes that are so near to each other that the unchanged lines around them meet. */
function grouped(changes: readonly StructuredPatchHunk[]): readonly (readonly StructuredPatchHunk[])[] {
  const groups: StructuredPatchHunk[][] = [];
  for (const change of changes) {
    const last = groups.at(-1)?.at(-1);
    if (last !== undefined && change.oldStart - endOf(last) <= 2 * CONTEXT) groups.at(-1)?.push(change);
    else groups.push([change]);
  }
  return groups;
}

/** Returns the number, from 1, of the line after a change. */
function endOf({ oldStart, oldLines }: StructuredPatchHunk): number {
  return oldStart + oldLines;
}

/** Makes one hunk of changes, with the unchanged lines between and around them. */
function hunkOf(lines: readonly string[], changes: readonly StructuredPatchHunk[]): StructuredPatchHunk {
  const [first, last] = [changes[0], changes.at(-1)] as [StructuredPatchHunk, StructuredPatchHunk];
  const start = Math.max(1, first.oldStart - CONTEXT);
  const end = Math.min(lines.length + 1, endOf(last) + CONTEXT);
  const unchanged = (from: number, to: number) => lines.slice(from - 1, to - 1).map(contextLine);
  let at = start;
  const body = changes.flatMap((change) => {
    const before = unchanged(at, change.oldStart);
    at = endOf(change);
    return [...before, ...change.lines];
  });
  const grown = changes.reduce((sum, { oldLines, newLines }) => sum + newLines - oldLines, 0);
  return {
    oldStart: start,
    oldLines: end - start,
    newStart: first.newStart - (first.oldStart - start),
    newLines: end - start + grown,
    lines: [...body, ...unchanged(at, end)],
  };
}

function contextLine(line: string): string {
  return line.endsWith("\n") ? ` ${line.slice(0, -1)}` : ` ${line}\n\\ No newline at end of file`;
}
