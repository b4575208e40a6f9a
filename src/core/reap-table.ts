import { oneLine } from "./base/text.ts";
import type { Rule } from "./pod-rules.ts";
import type { Report } from "./reap-report.ts";
import { counted } from "./wording.ts";

/** A line of what `--once` says. */
export interface Row extends Report {
  readonly namespace: string;
  readonly pod: string;
  /** The rule by which it was left; undefined: it was not. */
  readonly rule?: Rule;
}

/** Left as a matter of course: in a table of a whole cluster nobody looks for them. */
const plain: ReadonlySet<Rule> = new Set(["not-chosen", "over", "pending", "app-running", "restarts-always"]);

const order: readonly Report["result"][] = [
  "gave up",
  "put off",
  "ended",
  "would end",
  "stopped",
  "later",
  "gone",
  "left",
];

/** What became of each pod, and why, what matters most first; those that are left as a matter of course are counted. */
export function tableOf(rows: readonly Row[], showsAll: boolean): string {
  if (rows.length === 0) return "no pods\n";
  const isShown = ({ rule }: Row) => showsAll || rule === undefined || !plain.has(rule);
  const shown = rows.filter(isShown).sort(byWeight);
  const lines = [
    ["NAMESPACE", "POD", "RESULT", "WHY"],
    ...shown.map(({ namespace, pod, result, why }) => [namespace, pod, result, why].map(oneLine)),
  ];
  const widths = [0, 1, 2].map((at) => Math.max(...lines.map((line) => (line[at] ?? "").length)));
  const table = lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  "));
  const rest = summaryOf(rows.filter((row) => !isShown(row)));
  return `${[...(shown.length > 0 ? table : []), ...rest].join("\n")}\n`;
}

function byWeight(one: Row, other: Row): number {
  const weight = order.indexOf(one.result) - order.indexOf(other.result);
  const key = ({ namespace, pod }: Row) => `${namespace}/${pod}`;
  return weight === 0 ? Number(key(one) > key(other)) - Number(key(one) < key(other)) : weight;
}

/** `12 pods are not stuck: 8 not-chosen, 4 app-running`. */
function summaryOf(rows: readonly Row[]): readonly string[] {
  if (rows.length === 0) return [];
  const counts = new Map<string, number>();
  for (const { rule = "" } of rows) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  const parts = [...counts].sort(([one], [other]) => (one < other ? -1 : 1)).map(([rule, count]) => `${count} ${rule}`);
  return [`${counted(rows.length, "pod")} not stuck: ${parts.join(", ")}`];
}
