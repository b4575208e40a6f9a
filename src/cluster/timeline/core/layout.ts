import { oneLine } from "../../../shared/core/text.ts";
import { timeText } from "../../core/time.ts";
import { type Bar, type Phase, phases, type Timeline } from "./timeline.ts";

/** What each phase, and the sign of a run without an end, means. */
export const legend: Readonly<Record<Phase | "open", string>> = {
  wait: "wait",
  run: "run",
  drain: "drain (in flight, ! cut)",
  stop: "stop",
  quit: "end the sidecar",
  open: "no end",
};
export const OPEN = "›";

/** Returns the first line: from when to when. */
export function periodOf({ from, to }: Timeline): string {
  const [start, end] = [from, to].map((time) => timeText(time).slice(0, 19).replace("T", " "));
  return `${start} to ${end} UTC`;
}

/**
 * Returns the name of each row, printable and in at most `most` characters, and the exit codes of its last three runs:
 * `137 0`. The container's name is left out if all have the same. What is too long loses its start: pods of one
 * Deployment differ in their ends.
 */
export function labelsOf({ rows }: Timeline, most: number) {
  const isOne = new Set(rows.map(({ container }) => container)).size === 1;
  return rows.map(({ pod, container, exits }) => {
    const name = oneLine(isOne || container === "" ? pod : `${pod}/${container}`);
    const codes = exits.slice(-3).map((code) => code ?? OPEN);
    return { name: name.length <= most ? name : `…${name.slice(1 - most)}`, exits: codes.join(" ") };
  });
}

/** A text, and the column or pixel where it begins. */
interface Mark {
  readonly place: number;
  readonly text: string;
}

/**
 * Returns the marks of the axis, and the bars of each row with the counts in them. All places and sizes are whole
 * columns or pixels: the width of a row, of its narrowest bar, of a digit, and of a time at the axis. No two texts touch.
 * A bar that would be too narrow moves those after it on.
 */
export function layOut(
  { rows, from, to }: Timeline,
  { width, bar, digit, tick }: Readonly<Record<"width" | "bar" | "digit" | "tick", number>>,
) {
  const perMs = (width - phases.length * bar) / Math.max(1, to - from);
  const placeOf = (time: number) => Math.round((time - from) * perMs);
  // those that have room: the last, which shows whether anything was cut off, the first, then the others
  const countsIn = ({ from, to, inFlight, isCut }: Bar, start: number, end: number) => {
    const room = end - start;
    const within = inFlight.filter(({ at }) => at >= from && at <= to);
    const counts = within.map(({ at, count }) => ({ at, text: `${count}` }));
    const { at: lastAt = to, text = "" } = counts.pop() ?? {};
    const marked = (text.length + 1) * digit <= room ? `${text}!` : "!";
    const placed: Mark[] = [];
    for (const { at, text: shown } of [{ at: lastAt, text: isCut ? marked : text }, ...counts]) {
      const size = shown.length * digit;
      const place = Math.min(Math.max(start, placeOf(at)), end - size);
      const isFree = placed.every((one) => place + size < one.place || place > one.place + one.text.length * digit);
      if (shown !== "" && size <= room && isFree) placed.push({ place, text: shown });
    }
    return placed;
  };
  const ticks = ticksOf({ from, to }, tick / perMs).map(({ time, text }) => ({ place: placeOf(time), text }));
  const placed = rows.map(({ bars }) => {
    let free = 0;
    return bars.map((each) => {
      const start = Math.min(Math.max(free, placeOf(each.from)), width - bar);
      free = Math.max(start + bar, Math.min(placeOf(each.to), width));
      return { phase: each.phase, start, end: free, counts: countsIn(each, start, free) };
    });
  });
  return { ticks: ticks.filter(({ place }) => place + tick <= width), rows: placed };
}

const DAY = 86_400_000;
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200]; // seconds

/** Returns the round times that are at least so many milliseconds apart, and their texts. */
function ticksOf({ from, to }: Pick<Timeline, "from" | "to">, leastMs: number) {
  const seconds = steps.find((each) => each * 1000 >= leastMs);
  const step = seconds === undefined ? Math.ceil(leastMs / DAY) * DAY : seconds * 1000;
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, nth) => {
    const text = timeText(first + nth * step);
    return { time: first + nth * step, text: seconds === undefined ? text.slice(0, 10) : text.slice(11, 19) };
  });
}
