import { type JsonObject, parseObject, textOf } from "../../../shared/core/json.ts";
import { milestones } from "../../../shared/core/log-messages.ts";
import { timeOf } from "../../core/time.ts";

/** What a container does, in this order: it waits for its sidecars, runs, drains, stops, shuts down its sidecars. */
export const phases = ["wait", "run", "drain", "stop", "quit"] as const;
export type Phase = (typeof phases)[number];

/** What becomes a picture. Times are in milliseconds since 1970. */
export interface Timeline {
  /** One for each container. Pods stand in the order in which they begin, with their containers one after the other. */
  readonly rows: readonly Row[];
  readonly from: number;
  readonly to: number;
}

interface Row {
  readonly pod: string;
  readonly container: string;
  /** In order. None begins before the one before it ends. */
  readonly bars: readonly Bar[];
  /** The exit code of each run, undefined if no line has the run's end. */
  readonly exits: readonly (number | undefined)[];
}

export interface Bar {
  readonly phase: Phase;
  readonly from: number;
  readonly to: number;
  /** Of a drain: how many requests and connections were in flight, whenever that changed. */
  readonly inFlight: readonly { readonly at: number; readonly count: number }[];
  /** Of a drain: it ran out of time, or Envoy exited before: what was left was cut off. */
  readonly isCut: boolean;
}

/** A line of ebb's log. */
export interface Line {
  readonly pod: string;
  readonly container: string;
  /** Whether the line itself names both. */
  readonly isNamed: boolean;
  readonly at: number;
  readonly what: Phase | "end";
  /** When the phase began: before `at` if the line says how long it took. Of an end, when the command was started. */
  readonly start: number;
  readonly isDrained: boolean;
  readonly isCut: boolean;
  /** What is in flight in one sidecar. */
  readonly count: number | undefined;
  readonly sidecar: string;
  readonly exitCode: number | undefined;
}

/**
 * What may stand before the JSON of ebb: `[pod/POD/CONTAINER]` of kubectl logs --prefix, or `[NAMESPACE] POD CONTAINER`
 * of stern (read: stern 1.34, cmd/cmd.go:544, the template "default"); then the time that --timestamps adds, or what CRI
 * runtimes write: the time, the stream, and F (kubernetes, pkg/kubelet/kuberuntime/logs).
 */
const LINE =
  /^(?:\[pod\/([^\s/]+)\/([^\s\]]+)\] |((?:[a-z0-9.-]+ )?[a-z0-9.-]+) ([a-z0-9.-]+) )?(?:\d{4}-\S+ (?:std(?:out|err) F )?)?(\{.*)$/s;
/** The most characters of a name that is kept: Kubernetes has no longer ones. */
const LONGEST_NAME = 253;

/** Reads a line of a log, of the pod `source` if it names none. Returns undefined for a line that no timeline needs. */
export function readLine(line: string, source: string): Line | undefined {
  if (!line.includes("ebb: ")) return undefined; // most lines are the app's
  const [, pod, container, words, last = "", json = ""] = LINE.exec(line) ?? [];
  const fields = fieldsOf(json);
  const at = timeOf(fields.time) ?? -1;
  const message = textOf(fields.msg)?.slice("ebb: ".length) ?? "";
  if (at < 0 || !Object.hasOwn(milestones, message)) return undefined;
  const what = milestones[message as keyof typeof milestones];
  const number = (name: string) => {
    const value = fields[name];
    return typeof value === "number" && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
  };
  const [tookMs, ranMs, requests] = [number("tookMs"), number("ranMs"), number("requests")];
  const sinceStart = ranMs === undefined ? 0 : ranMs + (number("quitMs") ?? 0);
  return {
    pod: (pod ?? words?.replace(" ", "/") ?? source).slice(0, LONGEST_NAME),
    container: (container ?? last).slice(0, LONGEST_NAME),
    isNamed: (pod ?? words) !== undefined,
    at,
    what,
    start: Math.max(0, at - (what === "end" ? sinceStart : (tookMs ?? number("waitedMs") ?? 0))),
    isDrained: what === "drain" && tookMs !== undefined,
    isCut: what === "drain" && (fields.level === "warn" || textOf(fields.outcome)?.startsWith("out of time") === true),
    count: requests === undefined ? undefined : requests + (number("connections") ?? 0),
    sidecar: textOf(fields.sidecar)?.slice(0, LONGEST_NAME) ?? "",
    exitCode: number("exitCode"),
  };
}

/** Parses an entry of the log, which Docker wraps: `{"log":"ENTRY\n","stream":"stderr","time":"..."}`. */
function fieldsOf(json: string): JsonObject {
  const fields = parseObject(json) ?? {};
  return fields.msg === undefined && typeof fields.log === "string" ? (parseObject(fields.log) ?? {}) : fields;
}

/** Makes a timeline of at least one line, in any order, without repeated ones. */
export function timelineOf(lines: readonly Line[]): Timeline {
  const from = firstOf(lines);
  const to = Math.max(...lines.map(({ at }) => at));
  const ofContainers = [...Map.groupBy(lines, ({ pod, container }) => `${pod}/${container}`).values()];
  const rows = ofContainers.map((those) => rowOf(those, from, to));
  rows.sort((a, b) => (a.bars[0]?.from ?? to) - (b.bars[0]?.from ?? to));
  return { rows: [...Map.groupBy(rows, ({ pod }) => pod).values()].flat(), from, to };
}

/** Returns the first time of lines. The start that the line of an end has does not count: it may be days ago. */
function firstOf(lines: readonly Line[]): number {
  return Math.min(...lines.map(({ what, at, start }) => (what === "end" ? at : start)));
}

function rowOf(lines: readonly Line[], first: number, last: number): Row {
  const bars: Bar[] = [];
  const exits: (number | undefined)[] = [];
  const runs = runsIn(lines);
  let from = first;
  for (const [at, run] of runs.entries()) {
    const end = run.at(-1) as Line;
    const begun = startsOf(run);
    // ebb drain or ebb quit, without ebb run
    const isHook = end.what !== "end" && !begun.some(({ phase }) => phase === "wait" || phase === "run");
    const isOver = end.what === "end" || (isHook && begun.at(-1)?.phase !== "drain");
    const limit = isOver ? end.at : Math.min(last, firstOf(runs[at + 1] ?? []));
    for (const [nth, { phase, start }] of begun.entries()) {
      from = Math.max(from, start);
      const to = Math.max(from, begun[nth + 1]?.start ?? limit);
      const isDrain = phase === "drain";
      const inFlight = isDrain ? inFlightIn(run) : [];
      const isCut = isDrain && run.some((line) => line.isCut);
      if (to > from || phase !== "stop") bars.push({ phase, from, to, inFlight, isCut });
      from = to;
    }
    if (!(isHook && isOver)) exits.push(end.exitCode);
  }
  const [{ pod, container }] = lines as [Line];
  return { pod, container, bars, exits };
}

const order: readonly string[] = [...phases, "end"];

/** Sorts the lines of a container, and splits them into those of each run. */
function runsIn(lines: readonly Line[]): readonly (readonly Line[])[] {
  const runs: Line[][] = [];
  let [isStarted, isOver] = [false, true];
  for (const line of lines.toSorted((a, b) => a.at - b.at || order.indexOf(a.what) - order.indexOf(b.what))) {
    const isNext = isOver || (isStarted && (line.what === "wait" || line.what === "run"));
    if (isNext) runs.push([]);
    runs.at(-1)?.push(line);
    isStarted = line.what === "run" || (isStarted && !isNext);
    isOver = line.what === "end";
  }
  return runs;
}

/** Returns the phases that have begun in a run, and when. */
function startsOf(run: readonly Line[]) {
  const found = new Map<Phase | "end", number>();
  for (const { what, start } of run) found.set(what, Math.min(start, found.get(what) ?? start));
  const started = run.find(({ what, start, at }) => what === "end" && start < at)?.start;
  const drained = run.findLast(({ isDrained }) => isDrained)?.at;
  const others: Readonly<Partial<Record<Phase, number | undefined>>> = { run: started, stop: drained };
  return phases.flatMap((phase) => {
    const start = found.get(phase) ?? others[phase];
    return start === undefined ? [] : [{ phase, start }];
  });
}

/** Returns what was in flight in all sidecars, whenever that changed. */
function inFlightIn(run: readonly Line[]): Bar["inFlight"] {
  const counts = new Map<string, number>();
  let all = 0;
  return run.flatMap(({ at, sidecar, count }) => {
    if (count === undefined) return [];
    all += count - (counts.get(sidecar) ?? 0);
    counts.set(sidecar, count);
    return [{ at, count: all }];
  });
}
