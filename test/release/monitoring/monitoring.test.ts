import { expect, test } from "bun:test";
import { alerts, alertsPath } from "../../../build/monitoring/monitoring.ts";
import { type AlertCase, alertCases } from "./alerts.ts";
import { promtool, testRule } from "./promtool.ts";

test("promtool takes the rules", () => {
  expect(promtool("check", "rules", alertsPath)).toMatchObject({ code: 0 });
});

test("each alert has a case", () => {
  expect(Object.keys(alertCases).toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
});

test.each(alerts.map((rule) => [rule.alert, rule] as const))("%s fires, and only then", (name, rule) => {
  expect(testRule(alertsPath, rule, alertCases[name] as AlertCase)).toMatchObject({
    code: 0,
    said: expect.stringContaining("SUCCESS"),
  });
});
