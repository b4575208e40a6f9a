import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A rule of build/monitoring/alerts.yaml. */
export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<"summary" | "description" | "runbook", string>>;
}

interface RuleFile {
  readonly groups: readonly { readonly rules: readonly AlertRule[] }[];
}

interface Panel {
  readonly type: string;
  readonly title: string;
  readonly targets?: readonly { readonly expr: string }[];
  readonly [field: string]: unknown;
}

/** The path of the alerts. */
export const alertsPath = join(import.meta.dirname, "alerts.yaml");

const { groups } = Bun.YAML.parse(readFileSync(alertsPath, "utf8")) as RuleFile;

/** The alerts. */
export const alerts: readonly AlertRule[] = groups.flatMap(({ rules }) => rules);

/** The dashboard, as Grafana imports it. */
export const dashboard = JSON.parse(readFileSync(join(import.meta.dirname, "dashboard.json"), "utf8")) as {
  readonly schemaVersion: number;
  readonly panels: readonly Panel[];
};

/** The dashboard's queries, with the title of their panel. */
export const queries = dashboard.panels.flatMap(({ title, targets = [] }) =>
  targets.map(({ expr }) => ({ title, expr: expr.replaceAll("$__rate_interval", "5m") })),
);
