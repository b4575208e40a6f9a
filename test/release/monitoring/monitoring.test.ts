import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type AlertRule, alerts, alertsPath } from "../../../build/monitoring/monitoring.ts";
import { temporaryFolder } from "../../harness.ts";
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
function testOf({ alert, labels, annotations }: AlertRule, { fires, afterMin, labels: more, silent }: AlertCase) {
  const at = (minute: number, expected: readonly object[]) => ({
    eval_time: `${minute}m`,
    alertname: alert,
    exp_alerts: expected,
  });
  const series = (given: Series) => Object.entries(given).map(([name, values]) => ({ series: name, values }));
  const firing = { exp_labels: { ...labels, ...more }, exp_annotations: annotations };
  const minutes = Array.from({ length: 11 }, (_, index) => afterMin + index);
  const cases = [
    { input_series: series(fires), alert_rule_test: [at(afterMin - 1, []), at(afterMin, [firing])] },
    ...silent.map((each) => ({ input_series: series(each), alert_rule_test: minutes.map((minute) => at(minute, [])) })),
  ];
  return {
    rule_files: [alertsPath],
    evaluation_interval: "1m",
    tests: cases.map((each, index) => ({ name: `case ${index}`, interval: "1m", ...each })),
  };
}

function promtool(...words: readonly string[]) {
  const { exitCode: code, stdout, stderr } = Bun.spawnSync(["promtool", ...words]);
  return { code, said: `${stdout}${stderr}` };
}
