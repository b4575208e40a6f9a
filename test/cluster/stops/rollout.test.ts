import { expect, test } from "bun:test";
import { envoyPort, patience } from "../envoy.ts";
import { deploymentOf, serviceOf } from "../objects.ts";
import type { Calls } from "../programs/stopping.ts";
import { restartWeb, underLoad } from "../run/rollout.ts";
import { draining, specOf, stage } from "./pods.ts";
import { expectAnswered } from "./stop.ts";

const ROUNDS = 3;
/** Longer than a busy machine needs to take a pod out of its Service. */
const flags = ["--min-drain", "15s", ...draining];
const NEEDS_MS = 3000;
/** Of a few requests. */
const LONG_MS = 5000;

test("two replicas that are restarted under load lose no call of their apps, and no request", async () => {
  await using here = await stage();
  // of the app, through Envoy
  const readinessProbe = { httpGet: { path: "/health", port: envoyPort }, periodSeconds: 1, ...patience };
  const spec = specOf({ needsMs: [NEEDS_MS], flags, envoy: { readinessProbe } });
  const strategy = { rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } };
  await here.apply([deploymentOf("web", spec, { replicas: 2, strategy }), serviceOf("web", { http: envoyPort })]);
  await here.kubectl("rollout", "status", "deployment/web", "--timeout=240s");
  const { sent, losses, deletedAt, logs, seconds } = await underLoad(
    here,
    [{ port: envoyPort, longMs: LONG_MS }],
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) await restartWeb(here);
    },
  );
  const calls = Array.from(logs.matchAll(/\/app\] \S+ calls (.*)/g), ([, json = ""]) => JSON.parse(json) as Calls);
  const sum = (of: (calls: Calls) => number): number => calls.map(of).reduce((all, one) => all + one, 0);
  const of = {
    before: [sum(({ before }) => before.answered), sum(({ before }) => before.asked)],
    after: [sum(({ after }) => after.answered), sum(({ after }) => after.asked)],
  };
  console.log(
    `${ROUNDS} restarts of two replicas: calls ${JSON.stringify(of)}, ${losses.length} of ${sent} requests lost, in ${seconds.toFixed(1)} s`,
  );
  expect(losses).toEqual([]);
  expect(logs.match(/\/app\] \S+ lost .*/g)).toBeNull();
  expect(calls).toHaveLength(2 * ROUNDS);
  expect(Object.keys(deletedAt)).toHaveLength(2 * ROUNDS);
  for (const one of calls) expectAnswered(one, NEEDS_MS);
});
