import { afterAll, beforeAll, expect, test } from "bun:test";
import { alerts, alertsPath } from "../../../build/monitoring/monitoring.ts";
import { type Cluster, type Reaper, startCluster, startReaper, stuckPod } from "../../binary/cluster/reaper.ts";
import { ended } from "../../binary/cluster/reaper-calls.ts";
import { mountCertificate, startWebhook, type Webhook } from "../../binary/cluster/webhook/webhook.ts";
import { queries } from "../../build/monitoring/dashboard.ts";
import { until } from "../../harness/ebb.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";

// A real Prometheus scrapes the executable, as webhook and as reaper, and is asked what dashboard and alerts ask.

let cluster: Cluster;
let reaper: Reaper;
let webhook: Webhook;
let prometheus: Prometheus;

beforeAll(async () => {
  cluster = startCluster();
  webhook = await startWebhook([], mountCertificate(true, 30 * 86_400_000));
  reaper = await startReaper(cluster);
  const targets = [webhook, reaper].map(({ health }) => health.replace("http://", ""));
  prometheus = await startPrometheus(targets, alertsPath);
  const both = "sum(up) == 2 and min(ebb_reaper_last_sync_timestamp_seconds) > 0";
  await until("both are scraped", async () => (await prometheus.query(both)).length > 0);
  await webhook.ask();
  cluster.put(stuckPod("stuck"));
  await ended(reaper, 1);
  const counted =
    'ebb_webhook_requests_total{result="injected"} == 1 and on () ebb_reaper_attempts_total{outcome="ended"} == 1';
  await until("it is counted", async () => (await prometheus.query(counted)).length > 0);
});

afterAll(async () => {
  for (const each of [prometheus, reaper, webhook, cluster]) await each?.[Symbol.asyncDispose]();
});

test.each(queries.map(({ title, expr }) => [title, expr]))("the panel %s shows numbers: %s", async (_, expr = "") => {
  const values = await until("it has samples", async () => {
    const samples = await prometheus.query(expr); // a rate needs two scrapes since the first
    return samples.length > 0 && samples;
  });
  expect(values.filter((value) => !Number.isFinite(value))).toEqual([]);
});

test("no alert fires for a webhook and a reaper that are well, and Prometheus can evaluate each", async () => {
  const rules = await until("no alert is pending", async () => {
    const all = await prometheus.rules();
    return all.every(({ state, health }) => state === "inactive" && health !== "unknown") && all;
  });
  expect(rules.map(({ name }) => name).toSorted()).toEqual(alerts.map(({ alert }) => alert).toSorted());
  expect(rules.filter(({ health }) => health !== "ok")).toEqual([]);
});
