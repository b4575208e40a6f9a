import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AlertRule, alerts, alertsPath } from "../../../build/monitoring/monitoring.ts";
import { temporaryFolder } from "../../harness/ebb.ts";
import { type AlertCase, alertCases, type Series } from "./alerts.ts";

test("promtool takes the rules", () => {
  expect(promtool("check", "rules", alertsPath)).toMatchObject({ code: 0 });
});

test("each alert has a case", () => {
  expect(Object.keys(alertCases).toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
});

test.each(alerts.map((rule) => [rule.alert, rule] as const))("%s fires, and only then", (name, rule) => {
  using folder = temporaryFolder();
  const file = join(folder.path, "test.yaml");
  writeFileSync(file, JSON.stringify(testOf(rule, alertCases[name] as AlertCase)));
  expect(promtool("test", "rules", file)).toMatchObject({ code: 0, said: expect.stringContaining("SUCCESS") });
});

/** Returns a test file of promtool's. */
function testOf({ alert, labels, annotations }: AlertRule, { fires, silent }: AlertCase) {
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
    const alerts = [{ exp_labels: { ...labels, ...more }, exp_annotations: annotations }];
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
    rule_files: [alertsPath],
    evaluation_interval: "1m",
    tests: [...firing, ...silent.map((series) => caseOf(series, minutes))],
  };
}

function promtool(...words: readonly string[]) {
  const { exitCode: code, stdout, stderr } = Bun.spawnSync(["promtool", ...words]);
  return { code, said: `${stdout}${stderr}` };
}
