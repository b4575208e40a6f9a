import { expect, test } from "bun:test";
import { istioStats } from "../../envoy/bootstrap.ts";
import { startReady } from "../life.ts";
import { startPod } from "../pod.ts";
import { besideIstiod } from "./istiod.ts";
import { istioMesh } from "./subject.ts";

besideIstiod();

test("the statistics that the tests beside Envoy alone take for Istio's are those of its own bootstrap", async () => {
  await using pod = await startPod();
  await startReady(istioMesh(), pod);
  const dump = await pod.request("15000/config_dump?mask=bootstrap.stats_config");
  const [config] = JSON.parse(dump?.body ?? "").configs;
  expect(config.bootstrap.stats_config.stats_matcher.inclusion_list.patterns).toEqual(istioStats);
});
