import { columns } from "../../../shared/core/columns.ts";
import { oneLine } from "../../../shared/core/text.ts";
import { counted } from "../../../shared/core/wording.ts";
import { plainRules, type Rule } from "./pod-rules.ts";
import { REAP } from "./pod-view.ts";
import type { Report } from "./report.ts";

/** A line of the table that `ebb reaper --once` prints. */
export interface Row extends Report {
  readonly namespace: string;
  readonly pod: string;
  /** The rule by which the pod was left; undefined if it was not. */
  readonly reason?: Rule;
  /** Of a pod that is not selected: only its sidecars are left. */
  readonly isStuck?: boolean;
}

/** The results, the most important one first. */
const order: readonly Report["result"][] = [
  "gave up",
  "no permission",
  "put off",
  "ended",
  "would end",
  "stopped",
  "later",
  "not selected",
  "gone",
  "left alone",
];

/** What the table shows. */
interface TableOptions {
  /** Ordinary pods have a line, too. */
  readonly showsAll: boolean;
  /** --all-jobs is on. */
  readonly allJobs: boolean;
}

/**
 * Formats what became of each pod, and why, as a table, the most important results first; or `no pods`. Pods that were
 * left for an ordinary reason (not-selected, over, pending, app-running) are only counted below it,
 * unless they are stuck or `showsAll`.
 */
export function formatReapTable(rows: readonly Row[], { showsAll, allJobs }: TableOptions): string {
  if (rows.length === 0) return "no pods\n";
  const isShown = ({ reason, isStuck }: Row) =>
    showsAll || reason === undefined || isStuck === true || !plainRules.has(reason);
  const shown = rows.filter(isShown).sort(byWeight);
  const lines = [
    ["NAMESPACE", "POD", "RESULT", "WHY"],
    ...shown.map(({ namespace, pod, result, why }) => [namespace, pod, result, why].map(oneLine)),
  ];
  const table = columns(lines);
  const unselected = rows.filter(({ reason }) => reason === "not-selected");
  const rest = rows.filter((row) => row.reason !== "not-selected" && !isShown(row));
  return `${[...(shown.length > 0 ? table : []), ...summaryOf(rest), ...summaryOfUnselected(unselected, allJobs)].join("\n")}\n`;
}

function byWeight(one: Row, other: Row): number {
  const weight = order.indexOf(one.result) - order.indexOf(other.result);
  const key = ({ namespace, pod }: Row) => `${namespace}/${pod}`;
  return weight === 0 ? Number(key(one) > key(other)) - Number(key(one) < key(other)) : weight;
}

/** `12 pods not stuck: 8 over, 4 app-running`. */
function summaryOf(rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { reason = "" } of rows) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const parts = [...counts]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([reason, count]) => `${count} ${reason}`);
  return [`${counted(rows.length, "pod")} not stuck: ${parts.join(", ")}`];
}

/** Counts the pods that are not selected. They may be stuck all the same. */
function summaryOfUnselected(rows: readonly Row[], allJobs: boolean): readonly string[] {
  if (rows.length === 0) return [];
  const stuck = rows.filter(({ isStuck }) => isStuck).length;
  const jobs = allJobs ? "" : ", or with --all-jobs";
  const how = `select by the label ${REAP}=true on a pod or its namespace${jobs}`;
  return [`${counted(rows.length, "pod")} not selected, ${stuck === 0 ? "none stuck" : `${stuck} stuck`}: ${how}`];
}
