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

/** The path of the alerts, which the chart installs, too. */
export const alertsPath = join(import.meta.dirname, "../chart/alerts.yaml");

const { groups } = Bun.YAML.parse(readFileSync(alertsPath, "utf8")) as RuleFile;

/** The alerts. */
export const alerts: readonly AlertRule[] = groups.flatMap(({ rules }) => rules);

/** Returns the alerts as a table of the manual. */
export function alertTable(): string {
  const rows = alerts.map(({ alert, labels, annotations: { summary, description, runbook } }) => [
    `${code(alert)} (${labels.severity})`,
    `${summary}. ${description}`,
    linked(runbook),
  ]);
  return table(["alert", "it means", "do"], rows);
}

/** Makes a link of the section that a runbook ends with: `ebb help webhook: When it goes wrong`. */
function linked(runbook: string): string {
  return runbook.replace(/ebb help (\S+): (.+)$/, (_, page: string, section: string) => {
    const anchor = section.toLowerCase().replaceAll(" ", "-");
    return `[${page}](${page}.md#${anchor})`;
  });
}
