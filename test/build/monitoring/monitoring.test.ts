import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Metric, reaperMetrics, webhookMetrics } from "../../../build/metric-tables.ts";
import { alerts } from "../../../build/monitoring/monitoring.ts";
import { logMessages } from "../../docs/log-messages.ts";
import { panels, queries } from "./dashboard.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const monitoring = readFileSync(join(root, "src/manual/monitoring.md"), "utf8");
const metrics = [...(await webhookMetrics()), ...(await reaperMetrics())];
const named = [...alerts.map(({ alert, expr }) => [alert, expr]), ...queries.map(({ title, expr }) => [title, expr])];

/** What the expression asks for that ebb has not from its start on: a metric, a label, or a value of a label. */
function unknownIn(expr: string): readonly string[] {
  return [...expr.matchAll(/\b((?:ebb|process)_\w+?)(?:_bucket)?\b(?:\{(.*?)\})?/g)].flatMap(
    ([, name = "", pairs = ""]) => {
      const metric = metrics.find((each) => each.name === name);
      if (metric === undefined) return [name];
      return [...pairs.matchAll(/(\w+)(=~|!~|!=|=)"([^"]*)"/g)].flatMap(([, label = "", operator = "", text = ""]) => {
        const values = [...(metric.labels.get(label) ?? [])];
        const wanted = operator.includes("~") ? text.split("|") : [text];
        return wanted.filter((value) => !values.includes(value)).map((value) => `${name}{${label}="${value}"}`);
      });
    },
  );
}

test.each(named)("%s asks for metrics, labels and values that ebb has from its start on", (_, expr = "") => {
  expect(unknownIn(expr)).toEqual([]);
});

test("what ebb has not is found", () => {
  expect(unknownIn('rate(ebb_webhook_answers_total[5m]) + ebb_reaper_pods{reason=~"stuck|lost",state="x"}')).toEqual([
    "ebb_webhook_answers_total",
    'ebb_reaper_pods{reason="lost"}',
    'ebb_reaper_pods{state="x"}',
  ]);
});

test.each(alerts.map(({ alert, annotations }) => [alert, annotations.runbook]))(
  "the runbook of %s ends with a section of the manual",
  (_, runbook = "") => {
    const [, page, section] = /\. ebb help ([a-z-]+): (.+)$/.exec(runbook) ?? [];
    expect(readFileSync(join(root, `src/manual/${page}.md`), "utf8")).toContain(`\n## ${section}\n`);
  },
);

test("a replica has fewer series than the manual says", async () => {
  const [, ofWebhook, ofReaper] =
    /webhook starts with fewer than (\d+) series, one of the reaper with fewer than (\d+)/.exec(
      monitoring.replaceAll(/\s+/g, " "),
    ) ?? [];
  const count = (each: readonly Metric[]) => each.reduce((sum, { series }) => sum + series, 0);
  expect(count(await webhookMetrics())).toBeLessThan(Number(ofWebhook));
  expect(count(await reaperMetrics())).toBeLessThan(Number(ofReaper));
});

test("each log line that the manual says to watch is one that ebb writes", () => {
  const lines = [...monitoring.matchAll(/`ebb: ([^`]+)`/g)].map(([, text = ""]) => text);
  expect(lines.length).toBeGreaterThan(5);
  const known = logMessages.map(({ text }) => text);
  expect(lines.filter((line) => !known.includes(line))).toEqual([]);
});

test("the dashboard has panels that do not overlap, each with a number of its own", () => {
  const cells = panels.flatMap(({ gridPos }) => {
    const { x, y, w, h } = gridPos as Readonly<Record<"x" | "y" | "w" | "h", number>>;
    return Array.from({ length: w * h }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`);
  });
  expect(new Set(cells).size).toBe(cells.length);
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});
