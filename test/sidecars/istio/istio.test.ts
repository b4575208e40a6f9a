import { afterAll, beforeAll, expect, test } from "bun:test";
import { envoyVersion } from "../../../build/envoy.mjs";
import { drainTests, startPair } from "../drain.ts";
import { lifeTests } from "../life.ts";
import { startPod } from "../pod.ts";
import { stableStatus } from "../status.ts";
import { startIstiod } from "./istiod.ts";
import { istioMesh } from "./subject.ts";

let istiod: AsyncDisposable;
beforeAll(async () => {
  istiod = await startIstiod();
});
afterAll(() => istiod[Symbol.asyncDispose]());

const istio = istioMesh();
lifeTests(istio);
drainTests(istio);

test("the status of a default Istio", async () => {
  await using pod = await startPod();
  await startPair(istio, pod);
  const { foundBy, ...status } = await stableStatus(pod);
  expect(foundBy).toMatch(istio.foundBy);
  expect(status).toEqual({
    stderr: "",
    sidecars: [
      {
        name: "istio",
        native: false,
        ready: true,
        probes: [{ target: "http://localhost:15021/healthz/ready", ready: true, reason: null }],
        envoy: {
          admin: "http://localhost:15000",
          problems: [],
          state: "LIVE",
          release: envoyVersion,
          epoch: 0,
          drainStrategy: "immediate",
          drainTimeMs: 45_000,
          drained: null,
          inFlight: { requests: 0, connections: 0, hasRequests: true, countedBy: "clusters" },
          listeners: [
            "0.0.0.0_15021 0.0.0.0:15021 null",
            "0.0.0.0_15090 0.0.0.0:15090 null",
            "0.0.0.0_8080 0.0.0.0:8080 outbound",
            "0.0.0.0_9000 0.0.0.0:9000 outbound",
            "198.18.0.9_9001 198.18.0.9:9001 outbound",
            "virtualInbound 0.0.0.0:15006 inbound",
            "virtualOutbound 0.0.0.0:15001 outbound",
          ],
        },
      },
    ],
    findings: [],
    ports: [8080, 15000, 15001, 15006, 15020, 15021, 15090],
  });
});
