import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AlertRule } from "../../../build/monitoring/monitoring.ts";
import { temporaryFolder } from "../../harness/ebb.ts";
import type { AlertCase, Series } from "./alerts.ts";

/** Has promtool test that a rule of a file fires for the one series of a case, and for the others does not. */
export function testRule(path: string, rule: AlertRule, cases: AlertCase) {
  using folder = temporaryFolder();
  const file = join(folder.path, "test.yaml");
  writeFileSync(file, JSON.stringify(testOf(path, rule, cases)));
  return promtool("test", "rules", file);
}

/** Returns a test file of promtool's. */
function testOf(path: string, { alert, labels, annotations }: AlertRule, { fires, silent }: AlertCase) {
  const caseOf = (series: Series, expected: readonly (readonly [minute: number, alerts: readonly object[]])[]) => ({
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: expected.map(([minute, exp_alerts]) => ({
      eval_time: `${minute}m`,
      alertname: alert,
      exp_alerts,
    })),
  });
  const firing = fires.map(({ series, inMin, untilMin, labels: more }) => {
    const said = Object.entries(annotations).map(([key, text]) => [key, filled(text, more)] as const);
    const alerts = [{ exp_labels: { ...labels, ...more }, exp_annotations: Object.fromEntries(said) }];
    const end =
      untilMin === undefined
        ? []
        : ([
            [untilMin - 1, alerts],
            [untilMin, []],
          ] as const);
    return caseOf(series, [[inMin - 1, []], [inMin, alerts], ...end]);
  });
  const minutes = Array.from({ length: (fires[0]?.inMin ?? 0) + 11 }, (_, minute) => [minute, []] as const);
  return {
    rule_files: [path],
    evaluation_interval: "1m",
    tests: [...firing, ...silent.map((series) => caseOf(series, minutes))],
  };
}

/** Runs promtool to its end. */
export function promtool(...words: readonly string[]) {
  const { exitCode: code, stdout, stderr } = Bun.spawnSync(["promtool", ...words]);
  return { code, said: `${stdout}${stderr}` };
}

/** Fills labels in, as Prometheus does: `{{ $labels.pod }}`. */
function filled(text: string, labels: Readonly<Record<string, string>> = {}): string {
  return text.replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? "");
}
