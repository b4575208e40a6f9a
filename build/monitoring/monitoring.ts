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

/** Returns the alerts as a table of the manual. */
export function alertTable(): string {
  const rows = alerts.map(({ alert, labels, annotations: { summary, runbook } }) => [
    `${code(alert)} (${labels.severity})`,
    summary,
    linked(runbook),
  ]);
  return table(["alert", "it means", "do"], rows);
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

/** Makes a link of the section that a runbook ends with: `ebb help webhook: When it goes wrong`. */
function linked(runbook: string): string {
  return runbook.replace(/ebb help (\S+): (.+)$/, (_, page: string, section: string) => {
    const anchor = section.toLowerCase().replaceAll(" ", "-");
    return `[${page}](${page}.md#${anchor})`;
  });
}
