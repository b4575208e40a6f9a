import { readFileSync } from "node:fs";
import { join } from "node:path";
import { code, table } from "../markdown.ts";

/** A rule of build/chart/alerts.yaml. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<"summary" | "description" | "runbook", string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
}

/** The path of the alerts about ebb, which the chart installs, too. */
export const alertsPath = join(import.meta.dirname, "../chart/alerts.yaml");

/** The path of the alert about pods that hang, which needs nothing of ebb. */
export const hangingPath = join(import.meta.dirname, "hanging.yaml");

/** The alerts about ebb. */
export const alerts: readonly AlertRule[] = rulesIn(alertsPath);

/** The alerts about pods that hang. */
export const hangingAlerts: readonly AlertRule[] = rulesIn(hangingPath);

function rulesIn(path: string): readonly AlertRule[] {
  const { groups } = Bun.YAML.parse(readFileSync(path, "utf8")) as RuleFile;
  return groups.flatMap(({ rules }) => rules);
}

/** Returns the alerts as a table of the manual. What to do is in the alert itself. */
export function alertTable(): string {
  const rows = alerts.map(({ alert, labels, annotations: { summary, runbook } }) => [
    `${code(alert)}, ${labels.severity}`,
    `${summary}: ${sectionOf(runbook)}`,
  ]);
  return table(["alert", "it means"], rows);
}

/** Returns the alert about pods that hang as a PrometheusRule of the manual. */
export function hangingRule(): string {
  const rules = readFileSync(hangingPath, "utf8").replaceAll(/^#.*\n/gm, "");
  const head = [
    "apiVersion: monitoring.coreos.com/v1",
    "kind: PrometheusRule",
    "metadata: { name: hanging-pods }",
    "spec:",
  ];
  const lines = [
    ...head,
    ...rules
      .trimEnd()
      .split("\n")
      .map((line) => `  ${line}`),
  ];
  return `\n${lines.map((line) => `    ${line}\n`).join("")}\n`;
}

/** Returns a link to the section that a runbook ends with: `ebb help webhook: When it goes wrong`. */
function sectionOf(runbook: string): string {
  const [, page = "", section = ""] = /ebb help (\S+): (.+)$/.exec(runbook) ?? [];
  return `[${page}](${page}.md#${section.toLowerCase().replaceAll(" ", "-")})`;
}
